/*
 * A loop that waits and keeps what it read for later: the second round is as the first.
 * expect: sc=FP0401 tso=FP0401 pso=FP0401 ra=FP0401 rc11=FP0401 power=FP0401 armv8=FP0401
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int f;

void *t0(void *a)
{
    int kept = -1, now;
    while ((now = atomic_load(&f)) != 3)
        kept = now;
    assert(kept < 3);
    return 0;
}

void *t1(void *a) { f = 1; f = 2; return 0; }

int main(void) { pthread_t p, q; pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
