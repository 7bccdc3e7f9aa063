// check: -m rc20
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int next;

static void *take(void *unused) {
#ifdef MENDED
    atomic_fetch_add(&next, 1);
#else
    int number = atomic_load(&next);
    atomic_store(&next, number + 1);
#endif
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    message = atomic_load(&next);
    assert(message == 2);
    return 0;
}
