/* pthread_once: 0 before, 1 while it runs, 2 when it is done. */
#include <pthread.h>
int pthread_once(pthread_once_t *once, void (*routine)(void)) {
    int v = 0;
    if (__atomic_compare_exchange_n(once, &v, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        routine();
        __atomic_store_n(once, 2, __ATOMIC_RELEASE);
    } else if (v != 2) {
        __fp_await(once, "==", 2, __ATOMIC_ACQUIRE);
    }
    return 0;
}
