// A reader of a sequence lock that goes on with the version it found at the end of the last try.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int version, x, y;

void *writer(void *unused) {
    for (int i = 0; i < 2; i++) {
        atomic_store_explicit(&version, 2 * i + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&x, i + 1, memory_order_relaxed);
        atomic_store_explicit(&y, i + 1, memory_order_relaxed);
        atomic_store_explicit(&version, 2 * i + 2, memory_order_release);
    }
    return unused;
}

void *reader(void *unused) {
    int before = atomic_load_explicit(&version, memory_order_acquire);
    int a, b;
    for (;;) {
        a = atomic_load_explicit(&x, memory_order_relaxed);
        b = atomic_load_explicit(&y, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        int after = atomic_load_explicit(&version, memory_order_acquire);
        if (before == after && !(before & 1)) break;
        before = after;
    }
    assert(a == b);
    return unused;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
