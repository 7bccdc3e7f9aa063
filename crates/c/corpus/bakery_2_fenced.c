/*
 * Lamport's bakery for two threads, with relaxed atomics and a full fence after every announcement.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=9 tso=9 pso=9 ra=9 rc11=9 rc20=9 power=9 armv8=9
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
