// check: -m sc
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) once;

static void *make(void *unused) {
    int *mine = malloc(sizeof *mine), *other = 0;
    *mine = 1;
#ifdef MENDED
    if (!atomic_compare_exchange_strong(&once, &other, mine))
        free(mine);
#else
    atomic_compare_exchange_strong(&once, &other, mine);
#endif
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, make, 0);
    pthread_create(&b, 0, make, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(atomic_load(&once));
    pthread_exit(0);
}
