/*
 * A variable whose address is kept is declared again by a jump back, and read through the old pointer.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: When its declaration is reached again, the variable has no value (C11 6.2.4).
 */
#include <pthread.h>

static void *worker(void *unused) {
    int n = 0, sum = 0, *p;
again:;
    int x;
    p = &x;
    if (n > 0 && *p > 5)
        sum++;
    x = 7;
    if (n++ < 1)
        goto again;
    return sum ? unused : 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
