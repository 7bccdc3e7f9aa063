/* Thread-specific data: up to 8 keys. Destructors run when a thread ends, as long as they leave values, four rounds at
   most. */
#include <pthread.h>
static unsigned __fp_keys;
static void (*__fp_destructors[8])(void *);
static _Thread_local void *__fp_values[8];
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    unsigned k = __atomic_fetch_add(&__fp_keys, 1, __ATOMIC_RELAXED);
    if (k >= 8)
        __fp_unsupported("more than 8 keys");
    __atomic_store_n(&__fp_destructors[k], destructor, __ATOMIC_RELEASE);
    *key = k;
    return 0;
}
int pthread_key_delete(pthread_key_t key) {
    __atomic_store_n(&__fp_destructors[key], 0, __ATOMIC_RELEASE);
    return 0;
}
void *pthread_getspecific(pthread_key_t key) { return __fp_values[key]; }
int pthread_setspecific(pthread_key_t key, const void *value) {
    __fp_values[key] = (void *)value;
    return 0;
}
void __fp_run_destructors(void) {
    for (int round = 0; round < 4; round++)
        for (unsigned k = 0; k < 8; k++) {
            void *value = __fp_values[k];
            if (value) {
                void (*destructor)(void *) = __atomic_load_n(&__fp_destructors[k], __ATOMIC_ACQUIRE);
                __fp_values[k] = 0;
                if (destructor)
                    destructor(value);
            }
        }
}
void *__fp_thread_start(void *(*routine)(void *), void *argument) {
    void *result = routine(argument);
    __fp_run_destructors();
    return result;
}
