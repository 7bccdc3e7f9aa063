/*
 * Dijkstra's algorithm of 1965 for two threads, with relaxed atomics and a full fence after every announcement.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=96 tso=96 pso=714 ra=96 rc11=714 rc20=714 power=714 armv8=714
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

enum { IDLE, WANTS, ENTERS };
atomic_int state[THREADS], turn;

static void lock(int me) {
again:
    ST(state[me], WANTS);
    FENCE();
    while (LD(turn) != me)
        if (LD(state[LD(turn)]) == IDLE)
            ST(turn, me);
    ST(state[me], ENTERS);
    FENCE();
    for (int j = 0; j < THREADS; j++)
        if (j != me && LD(state[j]) == ENTERS)
            goto again;
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(state[me], IDLE);
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
