/*
 * A thread that waits for another to end, which waits for the one that calls exit.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: Neither join returns, and the process is over.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_t last;

static void *leaves(void *unused) { exit(1); }

static void *waits(void *unused) {
    pthread_join(last, 0);
    assert(0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&last, 0, leaves, 0);
    pthread_create(&t, 0, waits, 0);
    pthread_join(t, 0);
    assert(0);
    return 0;
}
