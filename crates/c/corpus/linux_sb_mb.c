/*
 * Store buffering in the style of Linux with smp_mb.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=3 tso=3 pso=3 ra=3 rc11=3 rc20=3 power=3 armv8=3
 * why: smp_mb is a full fence.
 */
#include <linux.h>
#include <pthread.h>
#include <assert.h>

static int x, y, r0, r1;

static void *first(void *arg) {
    WRITE_ONCE(x, 1);
    smp_mb();
    r0 = READ_ONCE(y);
    return 0;
}

static void *second(void *arg) {
    WRITE_ONCE(y, 1);
    smp_mb();
    r1 = READ_ONCE(x);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, first, 0);
    pthread_create(&t[1], 0, second, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(r0 || r1);
    return 0;
}
