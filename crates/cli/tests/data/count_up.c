/* A loop that writes and whose end depends on what others do. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *worker(void *arg) {
    while (atomic_fetch_add(&x, 1) < 5)
        ;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    atomic_fetch_add(&x, 1);
    pthread_join(t, 0);
    return 0;
}
