/*
 * A loop that waits, its load two calls away: nobody writes.
 * expect: all=FP0401
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int f;

static int get(atomic_int *p) { return atomic_load_explicit(p, memory_order_acquire); }
static int is_set(atomic_int *p) { return get(p) != 0; }

void *t0(void *a)
{
    while (!is_set(&f))
        ;
    return 0;
}

int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_join(p, 0); return 0; }
