/*
 * The last of three joins is of a thread that was never started.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The number of that thread is uninitialised, and the joins before it are left to the end.
 */
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
    pthread_t t[3];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
