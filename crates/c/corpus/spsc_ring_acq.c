/*
 * A ring buffer for one producer and one consumer, with release and acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=44 tso=47 pso=47 ra=47 rc11=47 rc20=47 power=47 armv8=44
 * why: Publishing the index releases the slot, reading it acquires the slot.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define REL memory_order_release
#define ACQ memory_order_acquire
#define SIZE 2

static int slots[SIZE];
static atomic_uint head, tail;

static int put(int value) {
    unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
    if (t - atomic_load_explicit(&head, ACQ) == SIZE)
        return 0;
    slots[t % SIZE] = value;
    atomic_store_explicit(&tail, t + 1, REL);
    return 1;
}

static int get(int *value) {
    unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
    if (h == atomic_load_explicit(&tail, ACQ))
        return 0;
    *value = slots[h % SIZE];
    atomic_store_explicit(&head, h + 1, REL);
    return 1;
}

static void *producer(void *arg) {
    for (int i = 1; i <= 3; i++)
        put(i);
    return 0;
}

static void *consumer(void *arg) {
    int last = 0;
    for (int i = 0; i < 3; i++) {
        int value;
        if (get(&value)) {
            assert(value > last);
            last = value;
        }
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, producer, 0);
    pthread_create(&t[1], 0, consumer, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
