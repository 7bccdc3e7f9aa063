/*
 * Szymanski's algorithm for two threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=29 tso=29 pso=29 ra=135 rc11=29 rc20=29 power=29 armv8=29
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

static int some(int me, int low, int high) {
    for (int j = 0; j < THREADS; j++) {
        int f = LD(flag[j]);
        if (j != me && f >= low && f <= high)
            return 1;
    }
    return 0;
}

static void lock(int me) {
    ST(flag[me], 1);
    FENCE();
    while (some(me, 3, 4))
        ;
    ST(flag[me], 3);
    FENCE();
    if (some(me, 1, 1)) {
        ST(flag[me], 2);
        FENCE();
        while (!some(me, 4, 4))
            ;
    }
    ST(flag[me], 4);
    FENCE();
    for (int j = 0; j < me; j++)
        while (LD(flag[j]) >= 2)
            ;
    FENCE();
}

static void unlock(int me) {
    FENCE();
    for (int j = me + 1; j < THREADS; j++)
        for (;;) {
            int f = LD(flag[j]);
            if (f != 2 && f != 3)
                break;
        }
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
