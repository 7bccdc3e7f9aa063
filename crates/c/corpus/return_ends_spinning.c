/*
 * Main returns while a thread spins on a flag that nobody sets.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The thread spins until the process ends.
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *spins(void *unused) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 0)
        ;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, spins, 0);
    return 0;
}
