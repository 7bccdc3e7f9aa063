/*
 * A local of main, used by a thread that may live longer than main.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: Main ends by pthread_exit, and its locals with it, while the thread may not have read yet.
 */
#include <pthread.h>

static void *reads(void *p) {
    return (void *)(long)*(int *)p;
}

int main(void) {
    int x = 1;
    pthread_t t;
    pthread_create(&t, 0, reads, &x);
    pthread_exit(0);
}
