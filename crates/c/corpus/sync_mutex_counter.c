/*
 * Three threads count under a mutex.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=6 rc20=6 power=6 armv8=6
 * why: The mutex orders the increments.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, worker, 0);
    pthread_create(&t[1], 0, worker, 0);
    pthread_create(&t[2], 0, worker, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    assert(n == 3);
    return 0;
}
