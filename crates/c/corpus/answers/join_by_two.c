/*
 * Two threads join the same one.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_t one;

void *t0(void *a) { return 0; }
void *t1(void *a) { pthread_join(one, 0); return 0; }

int main(void) { pthread_t p; pthread_create(&one, 0, t0, 0); pthread_create(&p, 0, t1, 0); pthread_join(one, 0); pthread_join(p, 0); return 0; }
