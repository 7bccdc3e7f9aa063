/* Cancellation. A request is acted upon where a thread looks for it: in pthread_testcancel and before it sleeps. Waits do not
   end by a request, and threads that are to be cancelled at any moment are beyond this model. */
#include <pthread.h>
static unsigned char __fp_cancelled[64];
static _Thread_local int __fp_cancel_state;
int pthread_cancel(pthread_t t) {
    __atomic_store_n(&__fp_cancelled[t & 63], 1, __ATOMIC_SEQ_CST);
    return 0;
}
void pthread_testcancel(void) {
    if (__fp_cancel_state == PTHREAD_CANCEL_ENABLE && __atomic_load_n(&__fp_cancelled[pthread_self() & 63], __ATOMIC_SEQ_CST))
        pthread_exit(PTHREAD_CANCELED);
}
int pthread_setcancelstate(int state, int *old) {
    if (old)
        *old = __fp_cancel_state;
    __fp_cancel_state = state;
    return 0;
}
int pthread_setcanceltype(int type, int *old) {
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
        __fp_unsupported("a thread that may be cancelled at any moment");
    if (old)
        *old = PTHREAD_CANCEL_DEFERRED;
    return 0;
}
