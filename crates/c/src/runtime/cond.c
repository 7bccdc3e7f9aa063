/* Condition variables. A wait takes a ticket (at most 32 waits on one variable are told apart). The low half of the state
   has a bit for every ticket that waits, the high half one for every ticket that was woken. A signal wakes any one of
   those that wait; there are no wakeups without a signal. */
#include <pthread.h>
int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) {
    c->__state = 0;
    c->__next = 0;
    return 0;
}
int pthread_cond_destroy(pthread_cond_t *c) {
    if (__atomic_load_n(&c->__state, __ATOMIC_RELAXED) & 0xffffffffUL)
        __fp_fail("a condition variable is destroyed while a thread waits for it");
    return 0;
}
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    unsigned ticket = __atomic_fetch_add(&c->__next, 1, __ATOMIC_RELAXED);
    if (ticket >= 32)
        __fp_unsupported("more than 32 waits on one condition variable");
    __atomic_fetch_or(&c->__state, 1UL << ticket, __ATOMIC_RELAXED);
    pthread_mutex_unlock(m);
    __fp_await(&c->__state, "&", 1UL << (ticket + 32), __ATOMIC_RELAXED);
    pthread_mutex_lock(m);
    return 0;
}
int pthread_cond_signal(pthread_cond_t *c) {
    unsigned long state = __atomic_load_n(&c->__state, __ATOMIC_RELAXED);
    for (;;) {
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
    while (state & 0xffffffffUL)
        if (__atomic_compare_exchange_n(&c->__state, &state, (state & ~0xffffffffUL) | state << 32, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
    return 0;
}
