/* A pointer is published; the reader relies on its address dependency, as code that avoids consume does. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int cells[2];
static _Atomic(int *) published = &cells[0];

static void *writer(void *arg) {
    cells[1] = 7;
    atomic_store_explicit(&published, &cells[1], memory_order_release);
    return 0;
}

static void *reader(void *arg) {
    int *p = atomic_load_explicit(&published, memory_order_relaxed);
    int seen = *p;
    assert(p == &cells[0] || seen == 7);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
