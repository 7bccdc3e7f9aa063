#include <string.h>
int main(void) {
    int a[2] = {1, 2}, b[2];
    memcpy(b, a, 6);
    return b[0];
}
