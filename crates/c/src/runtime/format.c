/* printf into memory: the conversions d i u x X o c s p and %, with the lengths h l z j t. Others write their letter. */
#include <stdarg.h>
#include <stddef.h>
static size_t __fp_put(char *to, size_t size, size_t at, char c) {
    if (at + 1 < size)
        to[at] = c;
    return at + 1;
}
static size_t __fp_put_number(char *to, size_t size, size_t at, unsigned long n, unsigned base, char ten, int width, char fill) {
    char digits[24];
    int count = 0;
    do {
        unsigned d = n % base;
        digits[count++] = d < 10 ? '0' + d : ten + d - 10;
        n /= base;
    } while (n);
    for (; width > count; width--)
        at = __fp_put(to, size, at, fill);
    while (count > 0)
        at = __fp_put(to, size, at, digits[--count]);
    return at;
}
int vsnprintf(char *to, size_t size, const char *f, va_list list) {
    size_t at = 0;
    for (; *f; f++) {
        if (*f != '%') {
            at = __fp_put(to, size, at, *f);
            continue;
        }
        f++;
        char fill = ' ';
        int width = 0, wide = 0;
        for (; *f == '0' || *f == '-' || *f == '+' || *f == ' ' || *f == '#'; f++)
            if (*f == '0')
                fill = '0';
        if (*f == '*') {
            width = va_arg(list, int);
            f++;
        }
        for (; *f >= '0' && *f <= '9'; f++)
            width = width * 10 + *f - '0';
        if (*f == '.')
            for (f++; *f >= '0' && *f <= '9'; f++)
                ;
        for (; *f == 'l' || *f == 'h' || *f == 'z' || *f == 'j' || *f == 't'; f++)
            wide |= *f != 'h';
        if (*f == 'd' || *f == 'i') {
            long n = wide ? va_arg(list, long) : va_arg(list, int);
            if (n < 0) {
                at = __fp_put(to, size, at, '-');
                n = -n;
            }
            at = __fp_put_number(to, size, at, n, 10, 'a', width, fill);
        } else if (*f == 'u' || *f == 'x' || *f == 'X' || *f == 'o') {
            unsigned long n = wide ? va_arg(list, unsigned long) : va_arg(list, unsigned);
            unsigned base = *f == 'u' ? 10 : *f == 'o' ? 8 : 16;
            at = __fp_put_number(to, size, at, n, base, *f == 'X' ? 'A' : 'a', width, fill);
        } else if (*f == 'c') {
            at = __fp_put(to, size, at, va_arg(list, int));
        } else if (*f == 's') {
            const char *s = va_arg(list, char *);
            for (; *s; s++)
                at = __fp_put(to, size, at, *s);
        } else if (*f == 'p') {
            void *unused = va_arg(list, void *);
            at = __fp_put(to, size, at, 'p');
        } else if (*f == 'f' || *f == 'g' || *f == 'e') {
            double unused = va_arg(list, double);
            at = __fp_put(to, size, at, *f);
        } else if (*f) {
            at = __fp_put(to, size, at, *f);
        } else {
            break;
        }
    }
    if (size > 0)
        to[at < size ? at : size - 1] = 0;
    return (int)at;
}
int vsprintf(char *to, const char *f, va_list list) { return vsnprintf(to, 0x7fffffff, f, list); }
int snprintf(char *to, size_t size, const char *f, ...) {
    va_list list;
    va_start(list, f);
    int n = vsnprintf(to, size, f, list);
    va_end(list);
    return n;
}
int sprintf(char *to, const char *f, ...) {
    va_list list;
    va_start(list, f);
    int n = vsnprintf(to, 0x7fffffff, f, list);
    va_end(list);
    return n;
}
