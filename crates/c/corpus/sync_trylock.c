/*
 * A thread that cannot get the mutex does something else.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: At most one thread is in the critical section, and nobody waits.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void *worker(void *arg) {
    if (pthread_mutex_trylock(&m) == 0) {
        inside++;
        assert(inside == 1);
        inside--;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, worker, 0);
    pthread_create(&t[1], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
