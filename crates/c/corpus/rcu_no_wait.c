/*
 * Read-copy-update whose writer does not wait for readers.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The reader may hold the old copy when it is freed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdlib.h>

static _Atomic(int *) data;

static void *reader(void *arg) {
    int *p = atomic_load(&data);
    assert(*p >= 1);
    return 0;
}

static void *writer(void *arg) {
    int *fresh = malloc(sizeof *fresh);
    *fresh = 2;
    int *old = atomic_exchange(&data, fresh);
    free(old);
    return 0;
}

int main(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    atomic_store(&data, first);
    pthread_t t[2];
    pthread_create(&t[0], 0, reader, 0);
    pthread_create(&t[1], 0, writer, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
