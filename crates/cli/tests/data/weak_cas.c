/* Two weak compare-exchanges of one cell: one of them succeeds, unless both fail for no reason. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static int done[2];

static void *worker(void *arg) {
    int expected = 0;
    long me = (long)arg;
    done[me] = atomic_compare_exchange_weak_explicit(&x, &expected, 1 + me, memory_order_relaxed,
                                                     memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(done[0] || done[1]);
    return 0;
}
