/*
 * The filter lock (Peterson for n threads) for three threads, with relaxed atomics and a full fence after every
 * announcement.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=663 tso=663 pso=663 ra=691 rc11=1170 rc20=1170 power=1170 armv8=1170
 * why: A full fence between announcing and looking forbids store buffering; the fences at both ends of the
 *      critical section keep it inside and give the language models their happens-before.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define THREADS 3
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)

atomic_int level[THREADS], last[THREADS];

static void lock(int me) {
    for (int l = 1; l < THREADS; l++) {
        ST(level[me], l);
        FENCE();
        ST(last[l], me);
        FENCE();
        for (int j = 0; j < THREADS; j++)
            if (j != me)
                while (LD(level[j]) >= l && LD(last[l]) == me)
                    ;
        FENCE();
    }
}

static void unlock(int me) {
    FENCE();
    ST(level[me], 0);
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
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
