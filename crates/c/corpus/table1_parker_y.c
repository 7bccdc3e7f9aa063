/*
 * The parker of the Java runtime: a thread parks until it is unparked; the unparker makes a condition true first,
 * with fences: a reconstruction of a program of paper 001, Table 1 (`parker y`, 1126 traces there). The paper
 * unrolls loops 5 times.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=8 tso=8 pso=9 ra=8 rc11=11 power=11 armv8=14
 * why: A permit is left over from before. The fence after taking it keeps the look at the condition behind it.
 *      But the relaxed look at `parked` that ends the wait does not: the condition may still be seen as it was, and
 *      the second wakeup never comes. SC, TSO, PSO and RA keep those two reads in order.
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
        atomic_thread_fence(memory_order_seq_cst);
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
    atomic_thread_fence(memory_order_seq_cst);
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
