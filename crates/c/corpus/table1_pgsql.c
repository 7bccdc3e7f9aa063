/*
 * The latch of PostgreSQL: two workers pass a token, resetting their latch before they look at the work, without
 * fences: a reconstruction of a program of paper 001, Table 1 (`pgsql`). The paper unrolls loops 8 times.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=4 ra=1 rc11=4 rc20=4 power=4 armv8=4
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
    for (int k = 0; k < 1; k++) {
        while (!LD(latch[me]))
            ;
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
