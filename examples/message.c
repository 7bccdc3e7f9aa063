// A message and a flag that says that it is there. Right on x86, wrong on ARM and POWER, and wrong by the C standard.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int message, ready;

void *sender(void *unused) {
    atomic_store_explicit(&message, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        assert(atomic_load_explicit(&message, memory_order_relaxed) == 42);
    pthread_join(thread, 0);
    return 0;
}
