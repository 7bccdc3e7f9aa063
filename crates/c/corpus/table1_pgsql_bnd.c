/*
 * The latch of PostgreSQL with a bounded number of turns, without fences: a reconstruction of a program of paper
 * 001, Table 1 (`pgsql_bnd`).
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=40 tso=40 pso=157 ra=40 rc11=157 rc20=157 power=157 armv8=157
 * why: The latch may be seen before the flag, wherever stores or loads are reordered.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

static atomic_int latch[2] = {1, 0}, flag[2] = {1, 0};

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int k = 0; k < 2; k++) {
        for (int tries = 0; tries < 2 && !LD(latch[me]); tries++)
            ;
        if (!LD(latch[me]))
            break;
            assert(LD(flag[me]));
        ST(latch[me], 0);
            if (LD(flag[me])) {
            ST(flag[me], 0);
            ST(flag[1 - me], 1);
                    ST(latch[1 - me], 1);
        }
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
