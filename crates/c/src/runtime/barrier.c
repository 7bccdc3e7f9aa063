/* Barriers: arrivals are only counted up; a round is over when the count reaches the next multiple. A barrier that needs
   nobody is not initialised, or was destroyed. */
#include <pthread.h>
int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned count) {
    if (__fp_peek(&b->__needed))
        __fp_fail("a barrier is initialised twice");
    if (count == 0)
        return 22;
    b->__arrived = 0;
    b->__needed = count;
    return 0;
}
int pthread_barrier_destroy(pthread_barrier_t *b) {
    if (b->__needed == 0)
        __fp_fail("a barrier is destroyed that is not initialised");
    if (__atomic_load_n(&b->__arrived, __ATOMIC_RELAXED) % b->__needed != 0)
        __fp_fail("a barrier is destroyed while a thread waits at it");
    b->__needed = 0;
    return 0;
}
int pthread_barrier_wait(pthread_barrier_t *b) {
    /* Whoever comes last may destroy the barrier at once: nothing but the count is read after the arrival. */
    unsigned needed = b->__needed;
    if (needed == 0)
        __fp_fail("a thread waits at a barrier that is not initialised");
    unsigned before = __atomic_fetch_add(&b->__arrived, 1, __ATOMIC_ACQ_REL);
    unsigned goal = (before / needed + 1) * needed;
    if (before + 1 == goal)
        return PTHREAD_BARRIER_SERIAL_THREAD;
    __fp_await(&b->__arrived, "u>=", goal, __ATOMIC_ACQUIRE);
    return 0;
}
