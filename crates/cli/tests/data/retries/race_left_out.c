// The race is with a read of an iteration that changes nothing, and the write needs what the reader does after it.
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready, seen;
int data;

void *reader(void *unused) {
    int found = 0;
    while (!atomic_load_explicit(&ready, memory_order_relaxed)) found = data;
    atomic_store_explicit(&seen, 1, memory_order_relaxed);
    (void)found;
    return unused;
}

void *writer(void *unused) {
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    if (atomic_load_explicit(&seen, memory_order_relaxed)) data = 1;
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
