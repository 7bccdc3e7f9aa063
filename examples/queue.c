/* A queue of two places between one producer and one consumer: the indices are released by one and acquired by the other. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int slots[2];
atomic_uint head, tail;

void *producer(void *unused) {
    for (unsigned i = 0; i < 2; i++) {
        slots[i % 2] = i + 1;
        atomic_store_explicit(&tail, i + 1, memory_order_release);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, producer, 0);
    unsigned end = atomic_load_explicit(&tail, memory_order_acquire);
    for (unsigned i = 0; i < end; i++) {
        assert(slots[i % 2] == (int)i + 1);
        atomic_store_explicit(&head, i + 1, memory_order_release);
    }
    pthread_join(thread, 0);
    return 0;
}
