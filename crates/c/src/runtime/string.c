/* Strings and small arithmetic. */
#include <stddef.h>
size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}
int strcmp(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}
int strncmp(const char *a, const char *b, size_t n) {
    for (; n > 0; n--, a++, b++) {
        int d = (unsigned char)*a - (unsigned char)*b;
        if (d || !*a)
            return d;
    }
    return 0;
}
char *strcpy(char *to, const char *from) {
    char *p = to;
    while ((*p++ = *from++))
        ;
    return to;
}
char *strncpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    for (; i < n && from[i]; i++)
        to[i] = from[i];
    for (; i < n; i++)
        to[i] = 0;
    return to;
}
char *strcat(char *to, const char *from) {
    char *p = to;
    while (*p)
        p++;
    while ((*p++ = *from++))
        ;
    return to;
}
char *strchr(const char *s, int c) {
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (!*s)
            return 0;
    }
}
int abs(int n) { return n < 0 ? -n : n; }
long labs(long n) { return n < 0 ? -n : n; }
