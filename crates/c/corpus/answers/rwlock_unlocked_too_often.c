/*
 * A reader unlocks twice.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

int main(void) { pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l); return 0; }
