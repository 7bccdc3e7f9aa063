/*
 * A race with a write that changes nothing.
 * expect: sc=safe tso=safe pso=safe ra=unsafe rc11=unsafe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The first thread takes x until it finds a 2 in it. Its second exchange writes back the 1 that it read, and the loop is
 *      where it was; but that write races with the plain read of the second thread, which has seen the first exchange only.
 */
#include <pthread.h>

static int x;

static void *taker(void *arg) {
    while (__atomic_exchange_n(&x, 1, __ATOMIC_ACQ_REL) != 2)
        ;
    return arg;
}

static void *giver(void *arg) {
    while (__atomic_load_n(&x, __ATOMIC_ACQUIRE) != 1)
        ;
    int old = x;
    if (old == 1)
        __atomic_store_n(&x, 2, __ATOMIC_RELEASE);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, taker, 0);
    pthread_create(&b, 0, giver, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
