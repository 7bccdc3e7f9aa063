#pragma once
#include <stddef.h>
#include <alloca.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX 1
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void *reallocarray(void *, size_t, size_t);
void *aligned_alloc(size_t, size_t);
void *memalign(size_t, size_t);
void *valloc(size_t);
#define posix_memalign(p, a, n) (*(p) = aligned_alloc((a), (n)), *(p) ? 0 : 12)
void free(void *);
void cfree(void *);
void abort(void);
void exit(int);
void _Exit(int);
void quick_exit(int);
int atexit(void (*)(void));
int on_exit(void (*)(int, void *), void *);
int rand(void);
int rand_r(unsigned *);
void srand(unsigned);
long random(void);
void srandom(unsigned);
long lrand48(void);
long nrand48(unsigned short *);
void srand48(long);
double drand48(void);
unsigned arc4random(void);
unsigned arc4random_uniform(unsigned);
int abs(int);
long labs(long);
long long llabs(long long);
div_t div(int, int);
ldiv_t ldiv(long, long);
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);
double atof(const char *);
long strtol(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
long long strtoll(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
double strtod(const char *, char **);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
char *getenv(const char *);
int setenv(const char *, const char *, int);
int unsetenv(const char *);
int system(const char *);
