#include <stdio.h>
int main(void) {
    char b[8];
    sprintf(b, "%d", 3);
    return b[0];
}
