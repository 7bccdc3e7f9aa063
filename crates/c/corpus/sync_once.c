/*
 * Two threads initialise once.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: The second waits for the first and acquires what it did.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls, value;

static void init(void) {
    calls++;
    value = 9;
}

static void *worker(void *arg) {
    pthread_once(&once, init);
    assert(value == 9);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, worker, 0);
    pthread_create(&t[1], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(calls == 1);
    return 0;
}
