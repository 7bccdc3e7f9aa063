// check: -m ra
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, a, b, between;

#ifdef MENDED
#define FENCE() atomic_fetch_add(&between, 0)
#else
#define FENCE() ((void)0)
#endif

static void *left(void *unused) {
    atomic_store(&x, 1);
    FENCE();
    atomic_store(&a, atomic_load(&y));
    return 0;
}

static void *right(void *unused) {
    atomic_store(&y, 1);
    FENCE();
    atomic_store(&b, atomic_load(&x));
    return 0;
}

int main(void) {
    pthread_t l, r;
    pthread_create(&l, 0, left, 0);
    pthread_create(&r, 0, right, 0);
    pthread_join(l, 0);
    pthread_join(r, 0);
    assert(atomic_load(&a) || atomic_load(&b));
    return 0;
}
