/*
 * Dekker's algorithm without turns for two threads: a thread that sees the other's flag takes its own back and tries again. With relaxed atomics and full
 * fences after every announcement and around the critical section.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * why: A full fence between announcing and looking forbids store buffering; the fences at both ends of the
 *      critical section keep it inside and give the language models their happens-before.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)

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
