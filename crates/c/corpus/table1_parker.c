/*
 * The parker of the Java runtime: a thread parks until it is unparked; the unparker makes a condition true first,
 * without fences: a reconstruction of a program of paper 001, Table 1 (`parker`). The paper unrolls loops 5 times.
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=8 tso=10 pso=11 ra=10 rc11=13 power=13 armv8=144
 * why: A permit is left over from before. Taking it may be seen late, after the condition was read (store
 *      buffering): the wakeup is lost and the waiter parks for ever.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

static atomic_int condition, parked, counter = 1;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void unpark(void) {
    pthread_mutex_lock(&m);
    int s = LD(counter);
    ST(counter, 1);
    if (s < 1 && LD(parked))
        ST(parked, 0);
    pthread_mutex_unlock(&m);
}

static void park(void) {
    if (LD(counter) > 0) {
        ST(counter, 0);
            return;
    }
    if (pthread_mutex_trylock(&m) != 0)
        return;
    if (LD(counter) > 0) {
        ST(counter, 0);
        pthread_mutex_unlock(&m);
        return;
    }
    ST(parked, 1);
    pthread_mutex_unlock(&m);
    while (LD(parked))
        ;
    ST(counter, 0);
}

static void *waiter(void *arg) {
    while (!LD(condition))
        park();
    return 0;
}

static void *waker(void *arg) {
    ST(condition, 1);
    unpark();
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, waiter, 0);
    pthread_create(&t[1], 0, waker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
