/*
 * The work-stealing deque of Chase and Lev: the owner takes what a thief steals, with the full fences in take and
 * steal.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=77 tso=77 pso=77 ra=77 rc11=77 rc20=77 power=77 armv8=77
 * why: The fences order the two sides as Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013) ask for.
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
    atomic_thread_fence(memory_order_seq_cst);
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
    atomic_thread_fence(memory_order_seq_cst);
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
