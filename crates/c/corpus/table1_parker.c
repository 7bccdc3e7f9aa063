/*
 * The parker of the Java runtime: a thread parks until it is unparked; the unparker makes a condition true first. Only its
 * mutex has fences: a reconstruction of a program of paper 001, Table 1 (`parker`; what the paper counts there ends with the
 * first error).
 * expect: sc=safe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=566 tso=606 pso=606 ra=606 rc11=1608 rc20=1608 power=1460 armv8=1460
 * why: The permit of the first wakeup is taken, and that may be seen after the second wakeup (store buffering with the
 *      condition): the second one finds a permit and wakes nobody, and the parker sleeps for ever.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define LD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define ST(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#define BOUND 5

void __VERIFIER_assume(int);

/* A mutex of two flags: 0 is the unparker, 1 the parker. */
static atomic_int wants[2];
static atomic_int go, finished, permit, waiting;

static void lock(int me) {
    ST(wants[me], 1);
    FENCE();
    __VERIFIER_assume(LD(wants[1 - me]) == 0);
}

static void unlock(int me) {
    FENCE();
    ST(wants[me], 0);
}

static int try_lock(int me) {
    ST(wants[me], 1);
    FENCE();
    if (LD(wants[1 - me]) == 0) {
        return 1;
    }
    ST(wants[me], 0);
    return 0;
}

static void unpark(void) {
    lock(0);
    int had = LD(permit);
    ST(permit, 1);
    unlock(0);
    if (had < 1)
        ST(waiting, 0);
}

static void park(void) {
    if (LD(permit) > 0) {
        ST(permit, 0);
        return;
    }
    if (!try_lock(1))
        return;
    if (LD(permit) > 0) {
        ST(permit, 0);
        unlock(1);
        return;
    }
    ST(waiting, 1);
    unlock(1);
    if (LD(finished)) {
        assert(LD(waiting) == 0); /* otherwise nobody will ever wake it */
    }
    __VERIFIER_assume(LD(waiting) == 0);
    lock(1);
    ST(permit, 0);
    unlock(1);
}

static void *parker(void *arg) {
    for (int k = 0; !LD(go); k++) {
        __VERIFIER_assume(k < BOUND);
        park();
    }
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, parker, 0);
    unpark();
    ST(go, 1);
    FENCE();
    unpark();
    FENCE();
    ST(finished, 1);
    pthread_join(t, 0);
    return 0;
}
