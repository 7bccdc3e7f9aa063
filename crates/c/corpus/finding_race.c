/*
 * A data race on a plain variable.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=unsafe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Two threads write a plain variable and nothing orders them; hardware models know no races and the value
 *      is not looked at.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static int x;

static void *worker(void *arg) {
    x = 1;
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
