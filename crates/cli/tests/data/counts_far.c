/* A loop that another thread could cut short, but does not before its twelfth turn: a bound of eight cuts every execution. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int turns, stop;

void *worker(void *unused) {
    while (atomic_fetch_add(&turns, 1) < 12 || !atomic_load(&stop))
        ;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    atomic_store(&stop, 1);
    pthread_join(t, 0);
    assert(turns > 12);
    return 0;
}
