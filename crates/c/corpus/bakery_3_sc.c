/*
 * Lamport's bakery for three threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=254 tso=254 pso=254 ra=3841 rc11=254 rc20=254 power=254 armv8=254
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

atomic_int choosing[THREADS], number[THREADS];

static void lock(int me) {
    ST(choosing[me], 1);
    FENCE();
    int max = 0;
    for (int j = 0; j < THREADS; j++) {
        int n = LD(number[j]);
        if (n > max)
            max = n;
    }
    ST(number[me], max + 1);
    FENCE();
    ST(choosing[me], 0);
    FENCE();
    for (int j = 0; j < THREADS; j++) {
        if (j == me)
            continue;
        while (LD(choosing[j]))
            ;
        FENCE();
        for (;;) {
            int n = LD(number[j]);
            if (n == 0 || n > max + 1 || (n == max + 1 && j > me))
                break;
        }
    }
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(number[me], 0);
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
