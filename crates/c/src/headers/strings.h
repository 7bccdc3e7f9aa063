#pragma once
#include <stddef.h>
int strcasecmp(const char *, const char *);
int strncasecmp(const char *, const char *, size_t);
#define bzero(p, n) ((void)__builtin_memset((p), 0, (n)))
#define bcopy(from, to, n) ((void)__builtin_memmove((to), (from), (n)))
#define bcmp(a, b, n) __builtin_memcmp((a), (b), (n))
int ffs(int);
int ffsl(long);
int ffsll(long long);
