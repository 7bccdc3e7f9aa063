/*
 * A reader-writer spinlock with acquire and release: one writer, two readers.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=70 tso=70 pso=70 ra=70 rc11=70 rc20=70 power=70 armv8=268
 * why: Readers acquire what the writer released and the other way round.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define ACQ memory_order_acquire
#define REL memory_order_release

enum { WRITER = -1 };
static atomic_int state;
static int a, b;

static void read_lock(void) {
    int s = atomic_load_explicit(&state, memory_order_relaxed);
    for (;;) {
        if (s < 0)
            s = atomic_load_explicit(&state, memory_order_relaxed);
        else if (atomic_compare_exchange_weak_explicit(&state, &s, s + 1, ACQ, memory_order_relaxed))
            return;
    }
}

static void read_unlock(void) { atomic_fetch_sub_explicit(&state, 1, REL); }

static void write_lock(void) {
    int s = 0;
    while (!atomic_compare_exchange_weak_explicit(&state, &s, WRITER, ACQ, memory_order_relaxed))
        s = 0;
}

static void write_unlock(void) { atomic_store_explicit(&state, 0, REL); }

static void *writer(void *arg) {
    write_lock();
    a++;
    b++;
    write_unlock();
    return 0;
}

static void *reader(void *arg) {
    read_lock();
    assert(a == b);
    read_unlock();
    return 0;
}

int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    pthread_create(&t[2], 0, reader, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
