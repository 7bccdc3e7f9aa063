/*
 * A thread unlocks what another one may not even have locked yet.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

void *t0(void *a) { pthread_rwlock_wrlock(&l); pthread_rwlock_unlock(&l); return 0; }
void *t1(void *a) { pthread_rwlock_unlock(&l); return 0; }

int main(void) { pthread_t p, q; pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
