#include <stdarg.h>
int sum(int n, ...) {
    va_list l;
    va_start(l, n);
    return va_arg(l, int);
}
int main(void) { return sum(1, 2); }
