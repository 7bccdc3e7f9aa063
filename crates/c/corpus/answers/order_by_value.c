/*
 * An order that is known only when the program runs.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

atomic_int x;
volatile int relaxed;

static int swap(atomic_int *p, int v, memory_order o) { return atomic_exchange_explicit(p, v, o); }
static _Bool cas(atomic_int *p, int *e, int d, memory_order s, memory_order f)
{
    return atomic_compare_exchange_strong_explicit(p, e, d, s, f);
}

int main(void)
{
    memory_order o = relaxed ? memory_order_relaxed : memory_order_seq_cst;
    int e = 2;
    assert(swap(&x, 2, o) == 0 && cas(&x, &e, 3, o, o) && !cas(&x, &e, 4, memory_order_acq_rel, memory_order_acquire));
    assert(e == 3);
    return 0;
}
