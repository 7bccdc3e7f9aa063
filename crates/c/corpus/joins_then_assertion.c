/*
 * An assertion on what was read before, behind joins that nobody can tell apart.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: Both additions may be read; the joins are left to the end, and the assertion with them.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *run(void *a)
{
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
    return 0;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, 0);
    int seen = atomic_load(&x);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(seen < 2);
    return 0;
}
