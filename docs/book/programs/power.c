// check: -m power
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, seen;

#ifdef MENDED
#define ORDER memory_order_seq_cst
#else
#define ORDER memory_order_acquire
#endif

static void *set_x(void *unused) {
    atomic_store(&x, 1);
    return 0;
}

static void *set_y(void *unused) {
    atomic_store(&y, 1);
    return 0;
}

static void *x_first(void *unused) {
    if (atomic_load_explicit(&x, ORDER) == 1 && atomic_load_explicit(&y, ORDER) == 0)
        atomic_fetch_add(&seen, 1);
    return 0;
}

static void *y_first(void *unused) {
    if (atomic_load_explicit(&y, ORDER) == 1 && atomic_load_explicit(&x, ORDER) == 0)
        atomic_fetch_add(&seen, 1);
    return 0;
}

int main(void) {
    void *(*functions[])(void *) = { set_x, set_y, x_first, y_first };
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, functions[i], 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    assert(atomic_load(&seen) < 2);
    return 0;
}
