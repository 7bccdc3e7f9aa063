/*
 * A thread detaches itself, and is joined all the same.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *t0(void *a) { pthread_detach(pthread_self()); return 0; }

int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_join(p, 0); return 0; }
