// check: -m ps
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, a, b;

#ifdef MENDED
#define ORDER memory_order_release
#else
#define ORDER memory_order_relaxed
#endif

static void *left(void *unused) {
    atomic_store_explicit(&a, atomic_load_explicit(&x, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&y, 1, ORDER);
    return 0;
}

static void *right(void *unused) {
    atomic_store_explicit(&b, atomic_load_explicit(&y, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&x, 1, ORDER);
    return 0;
}

int main(void) {
    pthread_t l, r;
    pthread_create(&l, 0, left, 0);
    pthread_create(&r, 0, right, 0);
    pthread_join(l, 0);
    pthread_join(r, 0);
    assert(!(a == 1 && b == 1));
    return 0;
}
