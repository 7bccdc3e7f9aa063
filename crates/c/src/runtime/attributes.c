/* Attributes of threads: only whether they are detached matters. */
#include <pthread.h>
int pthread_attr_init(pthread_attr_t *a) {
    a->__detached = PTHREAD_CREATE_JOINABLE;
    return 0;
}
int pthread_attr_setdetachstate(pthread_attr_t *a, int state) {
    if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
        return 22;
    a->__detached = state;
    return 0;
}
int pthread_attr_getdetachstate(const pthread_attr_t *a, int *state) {
    *state = a->__detached;
    return 0;
}
