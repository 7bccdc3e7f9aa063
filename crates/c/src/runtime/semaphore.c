/* Semaphores: the value above a base that tells an initialised semaphore from one that is not (0) or was destroyed (1). A wait
   takes one when there is one. */
#include <semaphore.h>
#ifdef errno
#define __FP_ERRNO(n) (errno = (n))
#else
#define __FP_ERRNO(n) ((void)0)
#endif
#define __FP_BASE 0x40000000
static void __fp_sem_check(int before) {
    if (before == 1)
        __fp_fail("a semaphore is used that was destroyed");
    if (before < __FP_BASE)
        __fp_fail("a semaphore is used that is not initialised");
}
int sem_init(sem_t *s, int shared, unsigned value) {
    if (__fp_peek(&s->__value) >= __FP_BASE)
        __fp_fail("a semaphore is initialised twice");
    if (value >= __FP_BASE)
        return -1;
    s->__value = __FP_BASE + value;
    return 0;
}
int sem_destroy(sem_t *s) {
    __fp_sem_check(__atomic_exchange_n(&s->__value, 1, __ATOMIC_RELAXED));
    return 0;
}
int sem_wait(sem_t *s) {
    __fp_sem_check(__fp_await_rmw(&s->__value, "!=", __FP_BASE, "-", 1, __ATOMIC_ACQUIRE));
    return 0;
}
int sem_trywait(sem_t *s) {
    int v = __atomic_load_n(&s->__value, __ATOMIC_RELAXED);
    while (v != __FP_BASE) {
        __fp_sem_check(v);
        if (__atomic_compare_exchange_n(&s->__value, &v, v - 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 0;
    }
    __FP_ERRNO(11);
    return -1;
}
/* Waiting may take too long, unless there was no need to wait. */
int sem_timedwait(sem_t *s, const struct timespec *t) {
    if (sem_trywait(s) == 0)
        return 0;
    if (__VERIFIER_nondet_bool()) {
        __FP_ERRNO(110);
        return -1;
    }
    return sem_wait(s);
}
int sem_post(sem_t *s) {
    __fp_sem_check(__atomic_fetch_add(&s->__value, 1, __ATOMIC_ACQ_REL));
    return 0;
}
int sem_getvalue(sem_t *s, int *value) {
    int v = __atomic_load_n(&s->__value, __ATOMIC_RELAXED);
    __fp_sem_check(v);
    *value = v - __FP_BASE;
    return 0;
}
