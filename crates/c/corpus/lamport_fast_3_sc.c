/*
 * Lamport's fast mutual exclusion for three threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=9216 tso=9216 pso=9216 rc11=9216 rc20=9216 power=9216 armv8=9216
 * why: The mappings keep sequentially consistent accesses in order on every target. Release and acquire alone
 *      let both threads miss the other's announcement (store buffering).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef REPEAT
#define REPEAT /* once; -D "REPEAT=for (;;)" enters for ever */
#endif
#define THREADS 3
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
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
