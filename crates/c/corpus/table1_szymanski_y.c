/*
 * Szymanski's algorithm for two threads, with fences: a reconstruction of a program of paper 001, Table 1
 * (`szymanski y`, 226 traces there).
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=29 tso=29 pso=29 ra=29 rc11=29 power=29 armv8=29
 * why: Full fences after each announcement.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

atomic_int flag[2], inside;

static void *first(void *arg) {
    ST(flag[0], 1);
    atomic_thread_fence(memory_order_seq_cst);
    while (LD(flag[1]) >= 3)
        ;
    ST(flag[0], 3);
    atomic_thread_fence(memory_order_seq_cst);
    if (LD(flag[1]) == 1) {
        ST(flag[0], 2);
        atomic_thread_fence(memory_order_seq_cst);
        while (LD(flag[1]) != 4)
            ;
    }
    ST(flag[0], 4);
    atomic_thread_fence(memory_order_seq_cst);
    ST(inside, 0);
    assert(LD(inside) == 0);
    atomic_thread_fence(memory_order_seq_cst);
    for (;;) {
        int f = LD(flag[1]);
        if (f != 2 && f != 3)
            break;
    }
    atomic_thread_fence(memory_order_seq_cst);
    ST(flag[0], 0);
    return 0;
}

static void *second(void *arg) {
    ST(flag[1], 1);
    atomic_thread_fence(memory_order_seq_cst);
    while (LD(flag[0]) >= 3)
        ;
    ST(flag[1], 3);
    atomic_thread_fence(memory_order_seq_cst);
    if (LD(flag[0]) == 1) {
        ST(flag[1], 2);
        atomic_thread_fence(memory_order_seq_cst);
        while (LD(flag[0]) != 4)
            ;
    }
    ST(flag[1], 4);
    atomic_thread_fence(memory_order_seq_cst);
    while (LD(flag[0]) >= 2)
        ;
    atomic_thread_fence(memory_order_seq_cst);
    ST(inside, 1);
    assert(LD(inside) == 1);
    atomic_thread_fence(memory_order_seq_cst);
    ST(flag[1], 0);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, first, 0);
    pthread_create(&t[1], 0, second, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
