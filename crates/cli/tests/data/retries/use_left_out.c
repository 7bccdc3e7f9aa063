// The same with the end of an object's life: nothing keeps the read before it from coming later, under POWER and ARMv8.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int ready, seen;
atomic_int *data;

void *reader(void *unused) {
    int found = 0;
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        found = atomic_load_explicit(data, memory_order_relaxed);
    atomic_store_explicit(&seen, 1, memory_order_relaxed);
    (void)found;
    return unused;
}

void *writer(void *unused) {
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    if (atomic_load_explicit(&seen, memory_order_relaxed)) free(data);
    return unused;
}

int main(void) {
    data = malloc(sizeof *data);
    atomic_init(data, 0);
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
