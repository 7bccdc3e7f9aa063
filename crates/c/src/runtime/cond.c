/* Condition variables. A wait takes a ticket (at most 32 waits on one variable are told apart). The low half of the state
   has a bit for every ticket that waits, the high half one for every ticket that was woken. A signal wakes any one of
   those that wait; with __fp_spurious a wait may also end without a signal. All ones: it was destroyed. `__next` has
   the next ticket, and 64 more if the variable was initialised by a call. */
#include <pthread.h>
#define __FP_DESTROYED 0xffffffffffffffffUL
int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) {
    if (__fp_peek(&c->__next) >= 64 && c->__state != __FP_DESTROYED)
        __fp_fail("a condition variable is initialised twice");
    c->__state = 0;
    c->__next = 64;
    return 0;
}
int pthread_cond_destroy(pthread_cond_t *c) {
    unsigned long state = __atomic_load_n(&c->__state, __ATOMIC_RELAXED);
    if (state == __FP_DESTROYED)
        __fp_fail("a condition variable is destroyed twice");
    if (state & 0xffffffffUL)
        __fp_fail("a condition variable is destroyed while a thread waits for it");
    __atomic_store_n(&c->__state, __FP_DESTROYED, __ATOMIC_RELAXED);
    return 0;
}
/* Takes a ticket and lets the mutex go. */
static unsigned __fp_cond_enter(pthread_cond_t *c, pthread_mutex_t *m) {
    unsigned ticket = __atomic_fetch_add(&c->__next, 1, __ATOMIC_RELAXED) & 63;
    if (ticket >= 32)
        __fp_unsupported("more than 32 waits on one condition variable");
    if (__atomic_fetch_or(&c->__state, 1UL << ticket, __ATOMIC_RELAXED) == __FP_DESTROYED)
        __fp_fail("a thread waits for a condition variable that was destroyed");
    pthread_mutex_unlock(m);
    return ticket;
}
/* Wakes up without a signal, unless one came in time. */
static void __fp_cond_leave(pthread_cond_t *c, unsigned ticket) {
    __atomic_fetch_and(&c->__state, ~(1UL << ticket), __ATOMIC_RELAXED);
}
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    unsigned ticket = __fp_cond_enter(c, m);
    if (__fp_spurious() && __VERIFIER_nondet_bool())
        __fp_cond_leave(c, ticket);
    else
        __fp_await(&c->__state, "&", 1UL << (ticket + 32), __ATOMIC_RELAXED);
    pthread_mutex_lock(m);
    return 0;
}
/* Time may pass at any moment: the wait ends by a signal or without one. */
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
    unsigned ticket = __fp_cond_enter(c, m);
    int late = __VERIFIER_nondet_bool();
    if (late)
        __fp_cond_leave(c, ticket);
    else
        __fp_await(&c->__state, "&", 1UL << (ticket + 32), __ATOMIC_RELAXED);
    pthread_mutex_lock(m);
    return late ? 110 : 0;
}
int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, int clock, const struct timespec *t) {
    return pthread_cond_timedwait(c, m, t);
}
int pthread_cond_signal(pthread_cond_t *c) {
    unsigned long state = __atomic_load_n(&c->__state, __ATOMIC_RELAXED);
    for (;;) {
        if (state == __FP_DESTROYED)
            __fp_fail("a condition variable is signalled that was destroyed");
        unsigned long waiting = state & 0xffffffffUL;
        if (!waiting)
            return 0;
        unsigned long chosen = waiting & -waiting;
        while (waiting != chosen && __VERIFIER_nondet_bool()) {
            waiting &= ~chosen;
            chosen = waiting & -waiting;
        }
        if (__atomic_compare_exchange_n(&c->__state, &state, (state & ~chosen) | chosen << 32, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return 0;
    }
}
int pthread_cond_broadcast(pthread_cond_t *c) {
    unsigned long state = __atomic_load_n(&c->__state, __ATOMIC_RELAXED);
    for (;;) {
        if (state == __FP_DESTROYED)
            __fp_fail("a condition variable is signalled that was destroyed");
        if (!(state & 0xffffffffUL))
            return 0;
        if (__atomic_compare_exchange_n(&c->__state, &state, (state & ~0xffffffffUL) | state << 32, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return 0;
    }
}
