/*
 * A pointer into a block that has ended is read in a function that a joined thread calls last.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The block has ended when the value is read for the return.
 */
#include <pthread.h>

static int last(void) {
    int *p;
    {
        int x[2] = {1, 2};
        p = &x[1];
    }
    return *p;
}

static void *thread(void *unused) { return (void *)(long)last(); }

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
