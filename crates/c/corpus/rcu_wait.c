/*
 * Read-copy-update: the writer replaces the data, waits until the reader has left, and frees the old copy.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: The counter is raised and looked at with full fences, so either the reader sees the new data or the
 *      writer waits.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdlib.h>

static _Atomic(int *) data;
static atomic_int reading;

static void *reader(void *arg) {
    atomic_store_explicit(&reading, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    int *p = atomic_load_explicit(&data, memory_order_acquire);
    assert(*p >= 1);
    atomic_store_explicit(&reading, 0, memory_order_release);
    return 0;
}

static void *writer(void *arg) {
    int *fresh = malloc(sizeof *fresh);
    *fresh = 2;
    int *old = atomic_load_explicit(&data, memory_order_relaxed);
    atomic_store_explicit(&data, fresh, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&reading, memory_order_acquire))
        ;
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
    free(atomic_load(&data));
    return 0;
}
