/*
 * A producer and a consumer with a condition variable.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The consumer looks under the mutex and waits in a loop.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int full, item;

static void *producer(void *arg) {
    pthread_mutex_lock(&m);
    item = 7;
    full = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *consumer(void *arg) {
    pthread_mutex_lock(&m);
    while (!full)
        pthread_cond_wait(&c, &m);
    assert(item == 7);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, producer, 0);
    pthread_create(&t[1], 0, consumer, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
