/*
 * The filter lock (Peterson for n threads) for three threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=663 tso=663 pso=663 rc11=663 rc20=663 power=663 armv8=663
 * why: The mappings keep sequentially consistent accesses in order on every target. Release and acquire alone
 *      let both threads miss the other's announcement (store buffering).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define THREADS 3
#define LD(x) atomic_load(&(x))
#define ST(x, v) atomic_store(&(x), (v))
#define FENCE() ((void)0)

atomic_int level[THREADS], last[THREADS];

static void lock(int me) {
    for (int l = 1; l < THREADS; l++) {
        ST(level[me], l);
        FENCE();
        ST(last[l], me);
        FENCE();
        for (int j = 0; j < THREADS; j++)
            if (j != me)
                while (LD(level[j]) >= l && LD(last[l]) == me)
                    ;
        FENCE();
    }
}

static void unlock(int me) {
    FENCE();
    ST(level[me], 0);
}

static int shared;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    lock(me);
    shared = me;
    assert(shared == me);
    unlock(me);
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
