// Fences of x86: full fences under every model, and a warning where they would not assemble.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int a, b;

void *left(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    __asm__ volatile("mfence" ::: "memory");
    a = atomic_load_explicit(&y, memory_order_relaxed);
    return 0;
}

void *right(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    __asm__ volatile("mfence" ::: "memory");
    b = atomic_load_explicit(&x, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, left, 0);
    pthread_create(&other, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(a || b);
}
