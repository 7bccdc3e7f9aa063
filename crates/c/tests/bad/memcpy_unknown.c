#include <string.h>
void copy(void *a, void *b) { memcpy(a, b, 8); }
int main(void) {
    long x = 1, y;
    copy(&y, &x);
    return y;
}
