/*
 * An access that does not happen after the allocation of its object.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The store that publishes the pointer is relaxed, so nothing orders the allocation before the use; RA makes it a release.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) p;

void *t0(void *u) { atomic_store_explicit(&p, malloc(sizeof(int)), memory_order_relaxed); return 0; }
void *t1(void *u) { int *r = atomic_load_explicit(&p, memory_order_relaxed); if (r) *r = 18; return 0; }

int main(void) { pthread_t p, q; pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
