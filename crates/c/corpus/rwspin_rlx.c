/*
 * A reader-writer spinlock with relaxed accesses.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=4 tso=4 pso=7 ra=4 rc11=7 rc20=7 power=10 armv8=10
 * why: The writer's data may be seen after its unlock, and races in RC11.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define ACQ memory_order_relaxed
#define REL memory_order_relaxed

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
    pthread_t t[2];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
