/*
 * Thread-specific data with a destructor.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Each thread has its own value, and the destructor runs once for each.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_key_t key;
static atomic_int ended;

static void end(void *value) { atomic_fetch_add(&ended, (int)(long)value); }

static void *worker(void *arg) {
    assert(pthread_getspecific(key) == 0);
    pthread_setspecific(key, arg);
    assert(pthread_getspecific(key) == arg);
    return 0;
}

int main(void) {
    pthread_key_create(&key, end);
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(atomic_load(&ended) == 3);
    return 0;
}
