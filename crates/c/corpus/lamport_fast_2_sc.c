/*
 * Lamport's fast mutual exclusion for two threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=16 tso=16 pso=16 ra=40 rc11=16 rc20=16 power=16 armv8=16
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

atomic_int x, y, b[THREADS];

static void lock(int me) {
    for (;;) {
        ST(b[me], 1);
        ST(x, me + 1);
        FENCE();
        if (LD(y) != 0) {
            ST(b[me], 0);
            while (LD(y) != 0)
                ;
            continue;
        }
        ST(y, me + 1);
        FENCE();
        if (LD(x) != me + 1) {
            ST(b[me], 0);
            FENCE();
            for (int j = 0; j < THREADS; j++)
                while (LD(b[j]))
                    ;
            FENCE();
            if (LD(y) != me + 1) {
                while (LD(y) != 0)
                    ;
                continue;
            }
        }
        break;
    }
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(y, 0);
    ST(b[me], 0);
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
