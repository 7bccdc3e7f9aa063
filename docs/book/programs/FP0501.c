// check: -m sc
#include <pthread.h>
#include <stdatomic.h>

static atomic_int total, count;

static void *add(void *unused) {
#ifdef MENDED
    atomic_fetch_add(&count, 1);
    atomic_fetch_add(&total, 10);
#else
    atomic_fetch_add(&total, 10);
    atomic_fetch_add(&count, 1);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    int mean = 0;
    pthread_create(&thread, 0, add, 0);
    if (atomic_load(&total) > 0)
        mean = 10 / atomic_load(&count);
    pthread_join(thread, 0);
    return mean == 3;
}
