/*
 * Returning from main is exit; what another thread did before that can still be wrong.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The thread may wait for the mutex until main returns; that is no deadlock.
 */
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *t0(void *a) { pthread_mutex_lock(&m); return 0; }

int main(void) { pthread_mutex_lock(&m); pthread_t h; pthread_create(&h, 0, t0, 0); return 0; }
