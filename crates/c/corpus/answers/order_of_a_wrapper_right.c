/*
 * With release in the second store the message is passed.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

atomic_int x, y;

static void put(atomic_int *p, int v, memory_order o) { atomic_store_explicit(p, v, o); }
static int get(atomic_int *p, memory_order o) { return atomic_load_explicit(p, o); }

void *t0(void *a) { put(&x, 1, memory_order_relaxed); put(&y, 1, memory_order_release); return 0; }
void *t1(void *a) { if (get(&y, memory_order_acquire)) assert(get(&x, memory_order_relaxed)); return 0; }

int main(void) { pthread_t p, q; pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
