/*
 * Dekker's algorithm for two threads, with relaxed atomics and no fences.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=4 tso=8 pso=16 ra=8 rc11=16 rc20=16 power=16 armv8=16
 * why: The announcement may be seen after the other flags were read (store buffering), which TSO and everything
 *      weaker allows; the language models also see a data race on `shared`.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef REPEAT
#define REPEAT /* once; -D "REPEAT=for (;;)" enters for ever */
#endif
#define THREADS 2
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() ((void)0)

atomic_int flag[2], turn;

static void lock(int me) {
    ST(flag[me], 1);
    FENCE();
    while (LD(flag[1 - me])) {
        if (LD(turn) != me) {
            ST(flag[me], 0);
            while (LD(turn) != me)
                ;
            ST(flag[me], 1);
            FENCE();
        }
    }
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(turn, 1 - me);
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
