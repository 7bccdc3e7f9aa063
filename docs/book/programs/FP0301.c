// check: -m armv8
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct config {
    int size;
};

static struct config config = { 4 };
static _Atomic(struct config *) current;
static atomic_int started;

static void *start(void *unused) {
    atomic_store_explicit(&current, &config, memory_order_relaxed);
#ifdef MENDED
    atomic_store_explicit(&started, 1, memory_order_release);
#else
    atomic_store_explicit(&started, 1, memory_order_relaxed);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    int size = 0;
    pthread_create(&thread, 0, start, 0);
    if (atomic_load_explicit(&started, memory_order_acquire))
        size = atomic_load_explicit(&current, memory_order_relaxed)->size;
    pthread_join(thread, 0);
    return size == 3;
}
