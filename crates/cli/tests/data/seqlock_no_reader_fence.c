/*
 * A sequence lock whose reader has no fence before its second look.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

struct lock {
    atomic_uint sequence;
    atomic_int left, right;
};

static struct lock lock;

static void *writer(void *unused) {
    atomic_store_explicit(&lock.sequence, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&lock.left, 1, memory_order_relaxed);
    atomic_store_explicit(&lock.right, 1, memory_order_relaxed);
    atomic_store_explicit(&lock.sequence, 2, memory_order_release);
    return 0;
}

static void *reader(void *unused) {
    unsigned before = atomic_load_explicit(&lock.sequence, memory_order_acquire);
    int left = atomic_load_explicit(&lock.left, memory_order_relaxed);
    int right = atomic_load_explicit(&lock.right, memory_order_relaxed);
    unsigned after = atomic_load_explicit(&lock.sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        assert(left == right);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
