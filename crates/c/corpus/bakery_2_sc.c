/*
 * Lamport's bakery for two threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=9 tso=9 pso=9 ra=22 rc11=9 rc20=9 power=9 armv8=9
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
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
