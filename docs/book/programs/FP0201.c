// check: -m rc20
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int ready;

static void *sender(void *unused) {
    message = 42;
#ifdef MENDED
    atomic_store_explicit(&ready, 1, memory_order_release);
#else
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, 0, sender, 0);
    if (atomic_load_explicit(&ready, memory_order_acquire))
        seen = message;
    pthread_join(thread, 0);
    return seen == 7;
}
