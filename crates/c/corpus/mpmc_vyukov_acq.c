/*
 * Vyukov's bounded queue for many producers and consumers, with release and acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: Each cell's sequence number releases and acquires its value.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define REL memory_order_release
#define ACQ memory_order_acquire
#define SIZE 2

static struct {
    atomic_uint sequence;
    int value;
} cells[SIZE] = {{0, 0}, {1, 0}};
static atomic_uint in, out;

static int put(int value) {
    unsigned at = atomic_load_explicit(&in, memory_order_relaxed);
    for (;;) {
        int d = (int)(atomic_load_explicit(&cells[at % SIZE].sequence, ACQ) - at);
        if (d < 0)
            return 0;
        if (d == 0 && atomic_compare_exchange_strong_explicit(&in, &at, at + 1, memory_order_relaxed,
                                                              memory_order_relaxed))
            break;
        if (d > 0)
            at = atomic_load_explicit(&in, memory_order_relaxed);
    }
    cells[at % SIZE].value = value;
    atomic_store_explicit(&cells[at % SIZE].sequence, at + 1, REL);
    return 1;
}

static int get(int *value) {
    unsigned at = atomic_load_explicit(&out, memory_order_relaxed);
    for (;;) {
        int d = (int)(atomic_load_explicit(&cells[at % SIZE].sequence, ACQ) - (at + 1));
        if (d < 0)
            return 0;
        if (d == 0 && atomic_compare_exchange_strong_explicit(&out, &at, at + 1, memory_order_relaxed,
                                                              memory_order_relaxed))
            break;
        if (d > 0)
            at = atomic_load_explicit(&out, memory_order_relaxed);
    }
    *value = cells[at % SIZE].value;
    atomic_store_explicit(&cells[at % SIZE].sequence, at + SIZE, REL);
    return 1;
}

static void *producer(void *arg) {
    put((int)(long)arg);
    return 0;
}

static void *consumer(void *arg) {
    int value;
    if (get(&value))
        assert(value == 1 || value == 2);
    return 0;
}

int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, producer, (void *)1);
    pthread_create(&t[1], 0, producer, (void *)2);
    pthread_create(&t[2], 0, consumer, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
