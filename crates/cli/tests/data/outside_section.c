#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x;

static void *worker(void *arg) {
    __VERIFIER_atomic_begin();
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 0, memory_order_relaxed);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    assert(atomic_load_explicit(&x, memory_order_relaxed) == 0);
    pthread_join(t, 0);
    return 0;
}
