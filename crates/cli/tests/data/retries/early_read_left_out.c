// The read of an iteration reads what is written because of what its thread does later: with any other value the iteration
// would have changed nothing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int kept, other;

void *first(void *unused) {
    int last = 0;
    while (atomic_load_explicit(&y, memory_order_acquire) != 1)
        last = atomic_load_explicit(&x, memory_order_relaxed);
    if (atomic_load_explicit(&y, memory_order_relaxed)) atomic_store_explicit(&y, 2, memory_order_relaxed);
    kept = last;
    return unused;
}

void *second(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_release);
    other = atomic_load_explicit(&y, memory_order_acquire);
    atomic_store_explicit(&x, 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!(kept == 1 && other == 2));
    return 0;
}
