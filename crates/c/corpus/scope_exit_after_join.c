/*
 * The same, after the thread was joined.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The thread has read before main ends.
 */
#include <pthread.h>

static void *reads(void *p) {
    return (void *)(long)*(int *)p;
}

int main(void) {
    int x = 1;
    pthread_t t;
    pthread_create(&t, 0, reads, &x);
    pthread_join(t, 0);
    pthread_exit(0);
}
