/*
 * A thread spins on a flag that nobody sets.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The last read of the flag is the newest value, and the loop does nothing else.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static atomic_int flag;

static void *worker(void *arg) {
    while (!atomic_load(&flag))
        ;
    return 0;
}

int main(void) {
    pthread_t t[1];
    pthread_create(&t[0], 0, worker, 0);
    for (int i = 0; i < 1; i++)
        pthread_join(t[i], 0);
    return 0;
}
