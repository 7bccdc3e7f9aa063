/* Strings. */
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
void *malloc(size_t);
void *memcpy(void *, const void *, size_t);
size_t strnlen(const char *s, size_t max) {
    size_t n = 0;
    while (n < max && s[n])
        n++;
    return n;
}
int strcoll(const char *a, const char *b) { return strcmp(a, b); }
char *stpcpy(char *to, const char *from) {
    while ((*to = *from++))
        to++;
    return to;
}
size_t strlcpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    for (; i + 1 < n && from[i]; i++)
        to[i] = from[i];
    if (n > 0)
        to[i] = 0;
    return strlen(from);
}
char *strncat(char *to, const char *from, size_t n) {
    char *p = to + strlen(to);
    for (; n > 0 && *from; n--)
        *p++ = *from++;
    *p = 0;
    return to;
}
char *strchrnul(const char *s, int c) {
    while (*s && *s != (char)c)
        s++;
    return (char *)s;
}
char *strrchr(const char *s, int c) {
    const char *found = 0;
    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (!*s)
            return (char *)found;
    }
}
char *strstr(const char *s, const char *word) {
    for (;; s++) {
        size_t i = 0;
        while (word[i] && s[i] == word[i])
            i++;
        if (!word[i])
            return (char *)s;
        if (!*s)
            return 0;
    }
}
size_t strspn(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && strchr(set, s[n]))
        n++;
    return n;
}
size_t strcspn(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && !strchr(set, s[n]))
        n++;
    return n;
}
char *strpbrk(const char *s, const char *set) {
    s += strcspn(s, set);
    return *s ? (char *)s : 0;
}
char *strtok_r(char *s, const char *set, char **rest) {
    if (!s)
        s = *rest;
    s += strspn(s, set);
    if (!*s) {
        *rest = s;
        return 0;
    }
    char *end = s + strcspn(s, set);
    if (*end)
        *end++ = 0;
    *rest = end;
    return s;
}
static char *__fp_strtok;
char *strtok(char *s, const char *set) { return strtok_r(s, set, &__fp_strtok); }
char *strndup(const char *s, size_t max) {
    size_t n = strnlen(s, max);
    char *p = malloc(n + 1);
    if (p) {
        for (size_t i = 0; i < n; i++)
            p[i] = s[i];
        p[n] = 0;
    }
    return p;
}
char *strdup(const char *s) { return strndup(s, strlen(s)); }
void *memchr(const void *p, int c, size_t n) {
    const unsigned char *s = p;
    for (; n > 0; n--, s++)
        if (*s == (unsigned char)c)
            return (void *)s;
    return 0;
}
int strcasecmp(const char *a, const char *b) {
    for (;; a++, b++) {
        int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a, y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;
        if (x != y || !x)
            return x - y;
    }
}
int strncasecmp(const char *a, const char *b, size_t n) {
    for (; n > 0; n--, a++, b++) {
        int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a, y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;
        if (x != y || !x)
            return x - y;
    }
    return 0;
}
int strcpy_s(char *to, size_t max, const char *from) {
    if (!to || !from || strlen(from) >= max)
        return 22;
    strcpy(to, from);
    return 0;
}
int strncpy_s(char *to, size_t max, const char *from, size_t n) {
    if (!to || !from || strnlen(from, n) >= max)
        return 22;
    to[0] = 0;
    strncat(to, from, n);
    return 0;
}
int strcat_s(char *to, size_t max, const char *from) {
    if (!to || !from || strlen(to) + strlen(from) >= max)
        return 22;
    strcat(to, from);
    return 0;
}
char *strsignal(int n) { return "signal"; }
