/*
 * Message passing in the style of Linux without barriers.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: READ_ONCE and WRITE_ONCE order nothing.
 */
#include <linux.h>
#include <pthread.h>
#include <assert.h>

static int data, flag;

static void *writer(void *arg) {
    WRITE_ONCE(data, 42);
    WRITE_ONCE(flag, 1);
    return 0;
}

static void *reader(void *arg) {
    if (READ_ONCE(flag))
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
