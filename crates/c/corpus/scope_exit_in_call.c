/*
 * pthread_exit in a function ends the locals of its caller too.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The local belongs to the function below the one that calls pthread_exit.
 */
#include <pthread.h>

static int *shared;

static void leave(void) { pthread_exit(0); }

static void *thread(void *unused) {
    int x = 7;
    shared = &x;
    leave();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    *shared = 8;
    return 0;
}
