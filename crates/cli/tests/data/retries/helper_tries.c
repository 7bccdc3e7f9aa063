// A reader of a sequence lock that calls a function for each try.
#include "sequence_lock.h"

static bool try_read(struct seqlock *l, int *a, int *b) {
    int before = atomic_load_explicit(&l->version, memory_order_acquire);
    if (before & 1) return false;
    *a = atomic_load_explicit(&l->x, memory_order_relaxed);
    *b = atomic_load_explicit(&l->y, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&l->version, memory_order_relaxed) == before;
}

void *reader(void *unused) {
    int a, b;
    while (!try_read(&lock, &a, &b)) {}
    assert(a == b);
    return unused;
}
