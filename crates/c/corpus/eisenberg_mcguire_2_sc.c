/*
 * The algorithm of Eisenberg and McGuire for two threads, with sequentially consistent atomics.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=safe power=safe armv8=safe
 * count: sc=18782 tso=18782 pso=18782 rc11=18782 rc20=18782 power=18782 armv8=18782
 * why: The mappings keep sequentially consistent accesses in order on every target. Release and acquire alone
 *      let both threads miss the other's announcement (store buffering).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define THREADS 2
#define LD(x) atomic_load(&(x))
#define ST(x, v) atomic_store(&(x), (v))
#define FENCE() ((void)0)

enum { IDLE, WANTS, ENTERS };
atomic_int state[THREADS], turn;

static void lock(int me) {
    for (;;) {
        ST(state[me], WANTS);
        FENCE();
        int j = LD(turn);
        while (j != me) {
            if (LD(state[j]) != IDLE)
                j = LD(turn);
            else
                j = (j + 1) % THREADS;
        }
        ST(state[me], ENTERS);
        FENCE();
        j = 0;
        while (j < THREADS && (j == me || LD(state[j]) != ENTERS))
            j++;
        int t = LD(turn);
        if (j >= THREADS && (t == me || LD(state[t]) == IDLE))
            break;
    }
    FENCE();
    ST(turn, me);
}

static void unlock(int me) {
    FENCE();
    int j = (LD(turn) + 1) % THREADS;
    while (LD(state[j]) == IDLE)
        j = (j + 1) % THREADS;
    ST(turn, j);
    ST(state[me], IDLE);
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
