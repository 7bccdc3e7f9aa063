/* Locking with a time limit: waiting may take too long, unless there was no need to wait. */
#include <pthread.h>
int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t) {
    if (pthread_mutex_trylock(m) == 0)
        return 0;
    if (__VERIFIER_nondet_bool())
        return 110;
    return pthread_mutex_lock(m);
}
