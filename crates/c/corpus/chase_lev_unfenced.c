/*
 * The work-stealing deque of Chase and Lev: the owner takes what a thief steals, without the full fences in take
 * and steal.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=77 tso=81 pso=81 ra=82 rc11=82 rc20=82 power=81 armv8=81
 * why: Owner and thief may both miss the other's announcement (store buffering) and take the last element twice.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static atomic_int items[2];
static atomic_int top, bottom;
static atomic_int taken[2];

static void push(int value) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&items[b % 2], value, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    int value = -1;
    if (t <= b) {
        value = atomic_load_explicit(&items[b % 2], memory_order_relaxed);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
                value = -1;
            atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        }
    } else {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return value;
}

static int steal(void) {
    int t = atomic_load_explicit(&top, memory_order_acquire);
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return -1;
    int value = atomic_load_explicit(&items[t % 2], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        return -1;
    return value;
}

static void got(int value) {
    if (value >= 0)
        assert(atomic_fetch_add(&taken[value], 1) == 0);
}

static void *owner(void *arg) {
    push(0);
    push(1);
    got(take());
    got(take());
    return 0;
}

static void *thief(void *arg) {
    got(steal());
    got(steal());
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, owner, 0);
    pthread_create(&t[1], 0, thief, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
