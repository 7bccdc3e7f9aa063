// A reader of a sequence lock whose helper fills a structure.
#include "sequence_lock.h"

struct pair { int a, b; };

static bool try_read(struct seqlock *l, struct pair *p) {
    int before = atomic_load_explicit(&l->version, memory_order_acquire);
    if (before & 1) return false;
    p->a = atomic_load_explicit(&l->x, memory_order_relaxed);
    p->b = atomic_load_explicit(&l->y, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&l->version, memory_order_relaxed) == before;
}

void *reader(void *unused) {
    struct pair p;
    while (!try_read(&lock, &p)) {}
    assert(p.a == p.b);
    return unused;
}
