/*
 * Peterson's algorithm for two threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=14 rc11=4 rc20=4 power=4 armv8=4
 * why: The mappings keep sequentially consistent accesses in order on every target. Release and acquire alone
 *      let both threads miss the other's announcement (store buffering).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef REPEAT
#define REPEAT /* once; -D "REPEAT=for (;;)" enters for ever */
#endif
#define THREADS 2
#define LD(x) atomic_load(&(x))
#define ST(x, v) atomic_store(&(x), (v))
#define FENCE() ((void)0)

atomic_int flag[2], turn;

static void lock(int me) {
    ST(flag[me], 1);
    FENCE();
    ST(turn, 1 - me);
    FENCE();
    while (LD(flag[1 - me]) && LD(turn) == 1 - me)
        ;
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(flag[me], 0);
}

static int shared;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    REPEAT {
        lock(me);
        shared = me;
        assert(shared == me);
        unlock(me);
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
