/*
 * A lock in the style of Linux with cmpxchg_acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: cmpxchg_acquire and smp_store_release make a lock.
 */
#include <linux.h>
#include <pthread.h>
#include <assert.h>

static int held, shared;

static void *worker(void *arg) {
    while (cmpxchg_acquire(&held, 0, 1) != 0)
        cpu_relax();
    shared++;
    smp_store_release(&held, 0);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, worker, 0);
    pthread_create(&t[1], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(shared == 2);
    return 0;
}
