/*
 * Message passing in the style of Linux: a release store and an acquire load.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: smp_store_release and smp_load_acquire synchronise.
 */
#include <linux.h>
#include <pthread.h>
#include <assert.h>

static int data, flag;

static void *writer(void *arg) {
    WRITE_ONCE(data, 42);
    smp_store_release(&flag, 1);
    return 0;
}

static void *reader(void *arg) {
    if (smp_load_acquire(&flag))
        assert(READ_ONCE(data) == 42);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
