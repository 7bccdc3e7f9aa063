#pragma once
#include <stdlib.h>
size_t malloc_usable_size(void *);
int malloc_trim(size_t);
int mallopt(int, int);
