/*
 * The parker of the Java runtime: a thread parks until it is unparked; the unparker makes a condition true first, with full
 * fences where the parker needs them: a reconstruction of a program of paper 001, Table 1 (`parker y`, loops unrolled 5 times).
 * Complete executions and those that end in an assumption, under POWER: 1126, as in the paper.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=566 tso=566 pso=566 ra=566 rc11=566 rc20=566 power=566 armv8=566
 * why: Behind taking a permit that is left over, a fence: the condition is read after that, and the parker cannot sleep on a
 *      wakeup that it has used up.
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
    FENCE();
}

static void unlock(int me) {
    FENCE();
    ST(wants[me], 0);
}

static int try_lock(int me) {
    ST(wants[me], 1);
    FENCE();
    if (LD(wants[1 - me]) == 0) {
        FENCE();
        return 1;
    }
    ST(wants[me], 0);
    FENCE();
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
        FENCE();
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
        FENCE();
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
