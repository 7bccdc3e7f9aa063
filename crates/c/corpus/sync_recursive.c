/*
 * A recursive mutex is taken twice.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=6 rc20=6 power=6 armv8=6
 * why: The owner may take it again; the other thread waits until both are released.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_mutex_t m;
static int n;

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &a);
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(n == 4);
    return 0;
}
