// A reader of a sequence lock whose helper has one return, and is tried in a loop with `continue`.
#include "sequence_lock.h"

static bool try_read(struct seqlock *l, int *a, int *b) {
    int before = atomic_load_explicit(&l->version, memory_order_acquire);
    bool done = false;
    if (!(before & 1)) {
        *a = atomic_load_explicit(&l->x, memory_order_relaxed);
        *b = atomic_load_explicit(&l->y, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        done = atomic_load_explicit(&l->version, memory_order_relaxed) == before;
    }
    return done;
}

void *reader(void *unused) {
    int a, b;
    for (;;) {
        bool ok = try_read(&lock, &a, &b);
        if (!ok) continue;
        break;
    }
    assert(a == b);
    return unused;
}
