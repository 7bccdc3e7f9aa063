/*
 * A barrier of pthreads between two phases.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Nobody is in the second phase before everybody left the first.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_barrier_t b;
static int phase[2];

static void *worker(void *arg) {
    int me = (int)(long)arg;
    phase[me] = 1;
    pthread_barrier_wait(&b);
    assert(phase[1 - me] == 1);
    return 0;
}

int main(void) {
    pthread_barrier_init(&b, 0, 2);
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    pthread_barrier_destroy(&b);
    return 0;
}
