/* Semaphores: the value itself, which a wait takes one from when there is one. */
#include <semaphore.h>
int sem_init(sem_t *s, int shared, unsigned value) {
    s->__value = value;
    return 0;
}
int sem_destroy(sem_t *s) { return 0; }
int sem_wait(sem_t *s) {
    __fp_await_rmw(&s->__value, ">", 0, "-", 1, __ATOMIC_ACQUIRE);
    return 0;
}
int sem_trywait(sem_t *s) {
    int v = __atomic_load_n(&s->__value, __ATOMIC_RELAXED);
    while (v > 0)
        if (__atomic_compare_exchange_n(&s->__value, &v, v - 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 0;
    return -1;
}
int sem_post(sem_t *s) {
    __atomic_fetch_add(&s->__value, 1, __ATOMIC_ACQ_REL);
    return 0;
}
int sem_getvalue(sem_t *s, int *value) {
    *value = __atomic_load_n(&s->__value, __ATOMIC_RELAXED);
    return 0;
}
