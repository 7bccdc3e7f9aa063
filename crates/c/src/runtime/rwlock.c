/* Read-write locks. The cell is 0 before initialisation, 1 after destruction, 2 when free, 2 more than the number of readers,
   or all ones for a writer. `__writer` is the writer's number plus one, written only by a writer that holds the lock. */
#include <pthread.h>
#define __FP_FREE 2u
#define __FP_WRITER 0xffffffffu
static void __fp_rwlock_check(unsigned before) {
    if (before == 0)
        __fp_fail("a read-write lock is used that is not initialised");
    if (before == 1)
        __fp_fail("a read-write lock is used that was destroyed");
}
int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a) {
    if (__fp_peek(&l->__dynamic) && l->__cell != 1)
        __fp_fail("a read-write lock is initialised twice");
    l->__cell = __FP_FREE;
    l->__writer = 0;
    l->__dynamic = 1;
    return 0;
}
int pthread_rwlock_destroy(pthread_rwlock_t *l) {
    unsigned before = __atomic_exchange_n(&l->__cell, 1, __ATOMIC_RELAXED);
    __fp_rwlock_check(before);
    if (before != __FP_FREE)
        __fp_fail("a read-write lock is destroyed while it is held");
    return 0;
}
int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
    __fp_rwlock_check(__fp_await_rmw(&l->__cell, "!=", __FP_WRITER, "+", 1, __ATOMIC_ACQUIRE));
    return 0;
}
int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
    __fp_rwlock_check(__fp_await_rmw(&l->__cell, "u<=", __FP_FREE, "=", __FP_WRITER, __ATOMIC_ACQUIRE));
    __atomic_store_n(&l->__writer, (int)pthread_self() + 1, __ATOMIC_RELAXED);
    return 0;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
    unsigned v = __atomic_load_n(&l->__cell, __ATOMIC_RELAXED);
    while (v != __FP_WRITER) {
        __fp_rwlock_check(v);
        if (__atomic_compare_exchange_n(&l->__cell, &v, v + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 0;
    }
    return 16;
}
int pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
    unsigned v = __FP_FREE;
    if (!__atomic_compare_exchange_n(&l->__cell, &v, __FP_WRITER, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        __fp_rwlock_check(v);
        return 16;
    }
    __atomic_store_n(&l->__writer, (int)pthread_self() + 1, __ATOMIC_RELAXED);
    return 0;
}
int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *t) {
    if (pthread_rwlock_tryrdlock(l) == 0)
        return 0;
    if (__VERIFIER_nondet_bool())
        return 110;
    return pthread_rwlock_rdlock(l);
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *t) {
    if (pthread_rwlock_trywrlock(l) == 0)
        return 0;
    if (__VERIFIER_nondet_bool())
        return 110;
    return pthread_rwlock_wrlock(l);
}
int pthread_rwlock_unlock(pthread_rwlock_t *l) {
    int writer = __atomic_load_n(&l->__writer, __ATOMIC_RELAXED);
    if (writer == (int)pthread_self() + 1) {
        __atomic_store_n(&l->__writer, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&l->__cell, __FP_FREE, __ATOMIC_RELEASE);
        return 0;
    }
    unsigned before = __atomic_fetch_sub(&l->__cell, 1, __ATOMIC_RELEASE);
    __fp_rwlock_check(before);
    if (before == __FP_WRITER)
        __fp_fail("a read-write lock is unlocked by a thread that does not hold it");
    if (before == __FP_FREE)
        __fp_fail("a read-write lock is unlocked that is not held");
    return 0;
}
