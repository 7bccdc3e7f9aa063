#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;

static int wait_for(atomic_int *what) {
    int value = atomic_load(what);
    if (value == 0)
        return wait_for(what);
    return value;
}

static void *worker(void *arg) {
    wait_for(&ready);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
#ifndef NOBODY
    atomic_store(&ready, 1);
#endif
    pthread_join(thread, 0);
    return 0;
}
