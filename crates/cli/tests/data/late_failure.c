// A loop may run for long before both threads miss each other; it need not.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int wanted, count, x, y;
int a, b;

void *left(void *unused) {
    int rounds = atomic_load_explicit(&wanted, memory_order_relaxed);
    for (int i = 0; i < rounds; i++)
        atomic_fetch_add_explicit(&count, i, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    a = atomic_load_explicit(&y, memory_order_relaxed);
    return 0;
}

void *right(void *unused) {
    atomic_store_explicit(&wanted, 36, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    b = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_load_explicit(&count, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&other, 0, right, 0);
    pthread_create(&one, 0, left, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(a || b);
}
