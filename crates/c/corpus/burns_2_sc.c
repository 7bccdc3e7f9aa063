/*
 * Burns' one-bit algorithm for two threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=147 tso=147 pso=147 ra=177 rc11=147 rc20=147 power=147 armv8=147
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

atomic_int flag[THREADS];

static void lock(int me) {
again:
    ST(flag[me], 0);
    FENCE();
    for (int j = 0; j < me; j++)
        if (LD(flag[j]))
            goto again;
    ST(flag[me], 1);
    FENCE();
    for (int j = 0; j < me; j++)
        if (LD(flag[j]))
            goto again;
    for (int j = me + 1; j < THREADS; j++)
        while (LD(flag[j]))
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
