/*
 * Dekker's algorithm without turns for two threads: a thread that sees the other's flag takes its own back and tries again. With relaxed atomics and no
 * fences.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * why: The announcement may be seen after the other flag was read (store buffering), which TSO and everything
 *      weaker allows; the language models also see a data race on `shared`.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() ((void)0)

atomic_int flag[2];

static void lock(int me) {
    for (;;) {
        ST(flag[me], 1);
        FENCE();
        if (!LD(flag[1 - me]))
            break;
        ST(flag[me], 0);
    }
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(flag[me], 0);
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
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
