/*
 * An uninitialised value is what the thread exits with.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: It is read to be passed to pthread_exit.
 */
#include <pthread.h>

static void *thread(void *unused) {
    int x;
    if (unused)
        x = 1;
    pthread_exit((void *)(long)x);
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
