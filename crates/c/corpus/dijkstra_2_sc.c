/*
 * Dijkstra's algorithm of 1965 for two threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=96 tso=96 pso=96 ra=115 rc11=96 rc20=96 power=96 armv8=96
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
