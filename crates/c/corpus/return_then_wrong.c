/*
 * What another thread did before the process ended can still be wrong.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The thread may see the flag before main returns.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *watches(void *unused) {
    assert(flag == 0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, watches, 0);
    flag = 1;
    return 0;
}
