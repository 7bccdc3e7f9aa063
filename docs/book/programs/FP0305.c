// check: -m sc
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) cache;

static void *drop(void *unused) {
#ifdef MENDED
    int *old = atomic_exchange(&cache, 0);
#else
    int *old = atomic_load(&cache);
    atomic_store(&cache, 0);
#endif
    free(old);
    return 0;
}

int main(void) {
    pthread_t a, b;
    atomic_store(&cache, malloc(sizeof(int)));
    pthread_create(&a, 0, drop, 0);
    pthread_create(&b, 0, drop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
