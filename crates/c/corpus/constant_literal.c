/*
 * A thread writes to a string literal through a pointer.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: Constants may lie in memory that cannot be written.
 */
#include <pthread.h>

static char *name = "ab";

static void *worker(void *arg)
{
    (void)arg;
    name[0] = 'c';
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
