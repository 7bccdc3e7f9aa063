/* Read-write locks: the cell is the number of readers, or -1 for a writer. `__writer` is written only by a writer that
   holds the lock, so that whoever unlocks knows in which way the lock is held without a race. */
#include <pthread.h>
int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a) {
    l->__cell = 0;
    l->__writer = 0;
    return 0;
}
int pthread_rwlock_destroy(pthread_rwlock_t *l) {
    if (__atomic_exchange_n(&l->__cell, -2, __ATOMIC_RELAXED) != 0)
        __fp_fail("a read-write lock is destroyed while it is held, or twice");
    return 0;
}
int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
    __fp_await_rmw(&l->__cell, ">=", 0, "+", 1, __ATOMIC_ACQUIRE);
    return 0;
}
int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
    __fp_await_rmw(&l->__cell, "==", 0, "=", -1, __ATOMIC_ACQUIRE);
    l->__writer = 1;
    return 0;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
    int v = __atomic_load_n(&l->__cell, __ATOMIC_RELAXED);
    while (v >= 0)
        if (__atomic_compare_exchange_n(&l->__cell, &v, v + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 0;
    return 16;
}
int pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
    int v = 0;
    if (!__atomic_compare_exchange_n(&l->__cell, &v, -1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 16;
    l->__writer = 1;
    return 0;
}
int pthread_rwlock_unlock(pthread_rwlock_t *l) {
    if (l->__writer) {
        l->__writer = 0;
        if (__atomic_exchange_n(&l->__cell, 0, __ATOMIC_RELEASE) != -1)
            __fp_fail("a read-write lock is unlocked by a thread that does not hold it");
    } else if (__atomic_fetch_sub(&l->__cell, 1, __ATOMIC_RELEASE) <= 0) {
        __fp_fail("a read-write lock is unlocked that is not held");
    }
    return 0;
}
