/*
 * Double-checked locking with a relaxed pointer.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: The pointer may be seen before the object (PSO, POWER, ARMv8), and the object races in RC11.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define ACQ memory_order_relaxed
#define REL memory_order_relaxed

static _Atomic(int *) instance;
static int object;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int *get(void) {
    int *p = atomic_load_explicit(&instance, ACQ);
    if (!p) {
        pthread_mutex_lock(&m);
        p = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!p) {
            object = 42;
            p = &object;
            atomic_store_explicit(&instance, p, REL);
        }
        pthread_mutex_unlock(&m);
    }
    return p;
}

static void *user(void *arg) {
    assert(*get() == 42);
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
