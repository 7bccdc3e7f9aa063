/*
 * A sequence lock with relaxed accesses and no fences.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=18 tso=18 pso=20 ra=18 rc11=20 rc20=20 power=20 armv8=20
 * why: Data may be seen before the odd sequence number, or the second look may come too early, wherever accesses
 *      are reordered.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static atomic_uint sequence;
static atomic_int a, b;

static void *writer(void *arg) {
    unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    atomic_store_explicit(&b, 1, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 2, memory_order_relaxed);
    return 0;
}

static void *reader(void *arg) {
    unsigned before, after;
    int x, y;
    before = atomic_load_explicit(&sequence, memory_order_relaxed);
    x = atomic_load_explicit(&a, memory_order_relaxed);
    y = atomic_load_explicit(&b, memory_order_relaxed);
    after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        assert(x == y);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
