/*
 * Lamport's fast mutual exclusion for three threads, with relaxed atomics and a full fence after every
 * announcement.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=9216 tso=9216 ra=11094
 * why: No fence stands between the two stores of a leaving thread. Where they can be seen out of order, a thread on
 *      the slow way sees all flags down while y is still its own and goes in; then the late y = 0 of the thread that
 *      left lets a third one in by the fast way. TSO and RA keep stores in order; so does a fence between the two.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef REPEAT
#define REPEAT /* once; -D "REPEAT=for (;;)" enters for ever */
#endif
#define THREADS 3
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)

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
