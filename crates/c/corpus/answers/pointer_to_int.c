/*
 * A cast that drops bits: a warning.
 * expect: all=safe
 * warns: a pointer is converted to `int`
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *t0(void *a) { int i = (int)a; assert(i == 1); return 0; }

int main(void) { pthread_t p; pthread_create(&p, 0, t0, (void *)1); pthread_join(p, 0); return 0; }
