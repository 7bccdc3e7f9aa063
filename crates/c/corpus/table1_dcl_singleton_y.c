/*
 * Double-checked locking of a singleton, with fences: a reconstruction of a program of paper 001, Table 1
 * (`dcl_singleton y`, 7 traces there). The paper unrolls loops 7 times.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 power=4 armv8=4
 * why: The value is written before the pointer and read after it.
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
    atomic_thread_fence(memory_order_seq_cst);
    if (!p) {
        pthread_mutex_lock(&m);
        p = LD(instance);
        if (!p) {
            ST(value, 42);
            p = &value;
            atomic_thread_fence(memory_order_seq_cst);
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
