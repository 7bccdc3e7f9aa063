/* Numbers, sorting and searching. */
#include <stddef.h>
typedef struct { int quot, rem; } __fp_div;
int abs(int n) { return n < 0 ? -n : n; }
long labs(long n) { return n < 0 ? -n : n; }
long long llabs(long long n) { return n < 0 ? -n : n; }
unsigned long strtoul(const char *s, char **end, int base) {
    const char *p = s;
    unsigned long value = 0;
    int negative = 0, digits = 0;
    while (*p == ' ' || (*p >= 9 && *p <= 13))
        p++;
    if (*p == '-' || *p == '+')
        negative = *p++ == '-';
    if ((base == 0 || base == 16) && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        p += 2;
        base = 16;
    } else if (base == 0) {
        base = *p == '0' ? 8 : 10;
    }
    for (;; p++) {
        int d = *p >= '0' && *p <= '9'   ? *p - '0'
                : *p >= 'a' && *p <= 'z' ? *p - 'a' + 10
                : *p >= 'A' && *p <= 'Z' ? *p - 'A' + 10
                                         : 99;
        if (d >= base)
            break;
        value = value * base + d;
        digits++;
    }
    if (end)
        *end = (char *)(digits ? p : s);
    return negative ? -value : value;
}
long strtol(const char *s, char **end, int base) { return (long)strtoul(s, end, base); }
long long strtoll(const char *s, char **end, int base) { return (long)strtoul(s, end, base); }
unsigned long long strtoull(const char *s, char **end, int base) { return strtoul(s, end, base); }
int atoi(const char *s) { return (int)strtol(s, 0, 10); }
long atol(const char *s) { return strtol(s, 0, 10); }
long long atoll(const char *s) { return strtol(s, 0, 10); }
void *memmove(void *, const void *, size_t);
/* By exchanging neighbours, bytes at a time: for few elements. */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0; j--) {
            char *a = (char *)base + (j - 1) * size, *b = a + size;
            if (compare(a, b) <= 0)
                break;
            if (size == 4) {
                int t = *(int *)a;
                *(int *)a = *(int *)b;
                *(int *)b = t;
            } else if (size == 8) {
                long t = *(long *)a;
                *(long *)a = *(long *)b;
                *(long *)b = t;
            } else {
                for (size_t k = 0; k < size; k++) {
                    char t = a[k];
                    a[k] = b[k];
                    b[k] = t;
                }
            }
        }
}
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    while (count > 0) {
        const char *middle = (const char *)base + count / 2 * size;
        int order = compare(key, middle);
        if (order == 0)
            return (void *)middle;
        if (order > 0) {
            base = middle + size;
            count--;
        }
        count /= 2;
    }
    return 0;
}
char *getenv(const char *name) { return 0; }
