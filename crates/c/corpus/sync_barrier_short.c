/*
 * A barrier for three threads that only two reach.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The two wait for ever.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_barrier_t b;

static void *worker(void *arg) {
    pthread_barrier_wait(&b);
    return 0;
}

int main(void) {
    pthread_barrier_init(&b, 0, 3);
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
