/*
 * Lamport's fast mutual exclusion for two threads, with relaxed atomics and a full fence after every announcement.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=16 tso=16 pso=26 ra=16 rc11=28 rc20=28 power=26 armv8=26
 * why: A full fence between announcing and looking forbids store buffering; the fences at both ends of the
 *      critical section keep it inside and give the language models their happens-before.
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
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
