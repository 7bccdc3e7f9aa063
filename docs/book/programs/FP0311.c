// check: -m rc20
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(atomic_int *) shared;

static void *make(void *unused) {
    atomic_int *value = calloc(1, sizeof *value);
#ifdef MENDED
    atomic_store_explicit(&shared, value, memory_order_release);
#else
    atomic_store_explicit(&shared, value, memory_order_relaxed);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, make, 0);
    atomic_int *value = atomic_load_explicit(&shared, memory_order_acquire);
    if (value)
        atomic_store_explicit(value, 1, memory_order_relaxed);
    pthread_join(thread, 0);
    free(atomic_load_explicit(&shared, memory_order_relaxed));
    return 0;
}
