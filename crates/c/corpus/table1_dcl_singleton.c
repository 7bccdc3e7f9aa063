/*
 * Double-checked locking of a singleton, without fences: a reconstruction of a program of paper 001, Table 1
 * (`dcl_singleton`). The paper unrolls loops 7 times.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: The pointer may be seen before the value.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

static _Atomic(atomic_int *) instance;
static atomic_int value;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *user(void *arg) {
    atomic_int *p = LD(instance);
    if (!p) {
        pthread_mutex_lock(&m);
        p = LD(instance);
        if (!p) {
            ST(value, 42);
            p = &value;
                    ST(instance, p);
        }
        pthread_mutex_unlock(&m);
    }
    assert(LD(*p) == 42);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, user, 0);
    pthread_create(&t[1], 0, user, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
