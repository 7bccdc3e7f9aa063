/*
 * An error-checking mutex says what was wrong instead of waiting.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: Relocking and unlocking by another thread return errors.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_mutex_t m;

static void *worker(void *arg) {
    assert(pthread_mutex_unlock(&m) != 0);
    return 0;
}

int main(void) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &a);
    assert(pthread_mutex_lock(&m) == 0);
    assert(pthread_mutex_lock(&m) != 0);
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    assert(pthread_mutex_unlock(&m) == 0);
    return 0;
}
