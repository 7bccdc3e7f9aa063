#pragma once
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void *aligned_alloc(size_t, size_t);
#define posix_memalign(p, a, n) (*(p) = aligned_alloc((a), (n)), 0)
void free(void *);
void abort(void);
void exit(int);
void _Exit(int);
void quick_exit(int);
int atexit(void (*)(void));
int rand(void);
void srand(unsigned);
int abs(int);
long labs(long);
int atoi(const char *);
long atol(const char *);
long strtol(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
char *getenv(const char *);
int system(const char *);
