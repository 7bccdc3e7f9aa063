// A sequence lock that one thread writes twice, and another one reads by `reader`.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct seqlock { atomic_int version, x, y; };
struct seqlock lock;

void *writer(void *unused) {
    for (int i = 0; i < 2; i++) {
        atomic_store_explicit(&lock.version, 2 * i + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&lock.x, i + 1, memory_order_relaxed);
        atomic_store_explicit(&lock.y, i + 1, memory_order_relaxed);
        atomic_store_explicit(&lock.version, 2 * i + 2, memory_order_release);
    }
    return unused;
}

void *reader(void *unused);

int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
