/*
 * A local object that is `const` is written through a pointer.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: C leaves the write undefined (6.7.3).
 */
#include <pthread.h>

static void clear(int *p) {
    *p = 0;
}

static void *worker(void *unused) {
    const int limit = 3;
    clear((int *)&limit);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
