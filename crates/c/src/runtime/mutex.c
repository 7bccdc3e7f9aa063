/* Mutexes of all kinds, for programs that choose them. `__owner` is the owner's number plus one; only the owner can find
   its own number there, so it is read and written relaxed. */
#include <pthread.h>
int pthread_mutexattr_settype(pthread_mutexattr_t *a, int kind) {
    a->__kind = kind;
    return kind < 0 || kind > 2 ? 22 : 0;
}
int pthread_mutexattr_gettype(const pthread_mutexattr_t *a, int *kind) {
    *kind = a->__kind;
    return 0;
}
int pthread_mutexattr_init(pthread_mutexattr_t *a) {
    a->__kind = PTHREAD_MUTEX_NORMAL;
    return 0;
}
int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) {
    if (__fp_peek(&m->__dynamic) && m->__cell != 0xffffffffU)
        __fp_fail("a mutex is initialised twice");
    m->__dynamic = 1;
    m->__cell = 0;
    m->__kind = a ? a->__kind : PTHREAD_MUTEX_NORMAL;
    m->__owner = 0;
    m->__count = 0;
    return 0;
}
int __fp_mtx_recursive(pthread_mutex_t *m) {
    pthread_mutex_init(m, 0);
    m->__kind = PTHREAD_MUTEX_RECURSIVE;
    return 0;
}
int pthread_mutex_destroy(pthread_mutex_t *m) {
    if (__atomic_exchange_n(&m->__cell, 0xffffffffU, __ATOMIC_RELAXED) != 0)
        __fp_fail("a mutex is destroyed while it is held, or twice");
    return 0;
}
static int __fp_mutex_mine(pthread_mutex_t *m) {
    return __atomic_load_n(&m->__owner, __ATOMIC_RELAXED) == (int)pthread_self() + 1;
}
static int __fp_mutex_taken(pthread_mutex_t *m) {
    __atomic_store_n(&m->__owner, (int)pthread_self() + 1, __ATOMIC_RELAXED);
    m->__count = 1;
    return 0;
}
int pthread_mutex_lock(pthread_mutex_t *m) {
    if (m->__kind != PTHREAD_MUTEX_NORMAL && __fp_mutex_mine(m)) {
        if (m->__kind == PTHREAD_MUTEX_ERRORCHECK)
            return 35;
        m->__count++;
        return 0;
    }
    __fp_lock(&m->__cell);
    return m->__kind != PTHREAD_MUTEX_NORMAL ? __fp_mutex_taken(m) : 0;
}
int pthread_mutex_trylock(pthread_mutex_t *m) {
    if (m->__kind == PTHREAD_MUTEX_RECURSIVE && __fp_mutex_mine(m)) {
        m->__count++;
        return 0;
    }
    if (!__fp_trylock(&m->__cell))
        return 16;
    return m->__kind != PTHREAD_MUTEX_NORMAL ? __fp_mutex_taken(m) : 0;
}
int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t) {
    int busy = pthread_mutex_trylock(m);
    if (busy != 16 || __VERIFIER_nondet_bool())
        return busy == 16 ? 110 : busy;
    return pthread_mutex_lock(m);
}
int pthread_mutex_unlock(pthread_mutex_t *m) {
    if (m->__kind != PTHREAD_MUTEX_NORMAL) {
        if (!__fp_mutex_mine(m))
            return 1;
        if (--m->__count > 0)
            return 0;
        __atomic_store_n(&m->__owner, 0, __ATOMIC_RELAXED);
    }
    __fp_unlock(&m->__cell);
    return 0;
}
