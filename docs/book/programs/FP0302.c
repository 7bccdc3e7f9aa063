// check: -m sc
#include <pthread.h>
#include <stdatomic.h>

static atomic_int used, slots[2];

static void *add(void *value) {
#ifdef MENDED
    int at = atomic_fetch_add(&used, 1);
    if (at < 2)
        atomic_store(&slots[at], 1);
#else
    if (atomic_load(&used) < 2) {
        int at = atomic_fetch_add(&used, 1);
        atomic_store(&slots[at], 1);
    }
#endif
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
