/*
 * Szymanski's algorithm for two threads, without fences: a reconstruction of a program of paper 001, Table 1
 * (`szymanski`).
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=29 tso=135 pso=206 ra=135 rc11=206 rc20=206 power=206 armv8=206
 * why: Store buffering on the flags.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

atomic_int flag[2], inside;

static void *first(void *arg) {
    ST(flag[0], 1);
    while (LD(flag[1]) >= 3)
        ;
    ST(flag[0], 3);
    if (LD(flag[1]) == 1) {
        ST(flag[0], 2);
            while (LD(flag[1]) != 4)
            ;
    }
    ST(flag[0], 4);
    ST(inside, 0);
    assert(LD(inside) == 0);
    for (;;) {
        int f = LD(flag[1]);
        if (f != 2 && f != 3)
            break;
    }
    ST(flag[0], 0);
    return 0;
}

static void *second(void *arg) {
    ST(flag[1], 1);
    while (LD(flag[0]) >= 3)
        ;
    ST(flag[1], 3);
    if (LD(flag[0]) == 1) {
        ST(flag[1], 2);
            while (LD(flag[0]) != 4)
            ;
    }
    ST(flag[1], 4);
    while (LD(flag[0]) >= 2)
        ;
    ST(inside, 1);
    assert(LD(inside) == 1);
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
