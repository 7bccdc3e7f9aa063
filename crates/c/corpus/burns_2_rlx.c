/*
 * Burns' one-bit algorithm for two threads, with relaxed atomics and no fences.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=147 tso=177 pso=342 ra=177 rc11=342 rc20=342 power=342 armv8=342
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
