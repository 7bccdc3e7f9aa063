// check: -m sc
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static union {
    atomic_uint whole;
    atomic_ushort half[2];
} word;

static void *set(void *unused) {
#ifdef MENDED
    atomic_fetch_or(&word.whole, 1);
#else
    atomic_store(&word.half[0], 1);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    unsigned seen = atomic_load(&word.whole);
    pthread_join(thread, 0);
    return seen == 7;
}
