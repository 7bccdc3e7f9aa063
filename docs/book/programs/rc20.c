// check: -m rc20
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int message, state;

static void *sender(void *unused) {
    atomic_store_explicit(&message, 42, memory_order_relaxed);
    atomic_store_explicit(&state, 1, memory_order_release);
#ifdef MENDED
    atomic_store_explicit(&state, 2, memory_order_release);
#else
    atomic_store_explicit(&state, 2, memory_order_relaxed);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    if (atomic_load_explicit(&state, memory_order_acquire) == 2)
        assert(atomic_load_explicit(&message, memory_order_relaxed) == 42);
    pthread_join(thread, 0);
    return 0;
}
