/*
 * realloc of nothing is malloc.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int main(void) { int *p = realloc(0, 2 * sizeof(int)); p[1] = 3; assert(p[1] == 3); free(p); return 0; }
