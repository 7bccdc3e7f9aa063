/*
 * A sequence lock as Boehm (MSPC 2012) writes it: fences keep the data between the two updates of the sequence.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=18 tso=18 pso=18 ra=18 rc11=18 rc20=18 power=18 armv8=18
 * why: A reader that sees any new datum sees the odd sequence number.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static atomic_uint sequence;
static atomic_int a, b;

static void *writer(void *arg) {
    unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    atomic_store_explicit(&b, 1, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 2, memory_order_release);
    return 0;
}

static void *reader(void *arg) {
    unsigned before, after;
    int x, y;
    before = atomic_load_explicit(&sequence, memory_order_acquire);
    x = atomic_load_explicit(&a, memory_order_relaxed);
    y = atomic_load_explicit(&b, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
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
