/* Cleanup handlers: a list of those of each thread. */
#include <pthread.h>
static _Thread_local struct __fp_cleanup *__fp_handlers_of_thread;
void __fp_cleanup_push(struct __fp_cleanup *h) {
    h->__outer = __fp_handlers_of_thread;
    __fp_handlers_of_thread = h;
}
void __fp_cleanup_pop(struct __fp_cleanup *h, int run) {
    __fp_handlers_of_thread = h->__outer;
    if (run)
        h->__routine(h->__argument);
}
void __fp_run_cleanups(void) {
    while (__fp_handlers_of_thread) {
        struct __fp_cleanup *h = __fp_handlers_of_thread;
        __fp_handlers_of_thread = h->__outer;
        h->__routine(h->__argument);
    }
}
