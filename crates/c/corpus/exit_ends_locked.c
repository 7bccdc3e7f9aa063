/*
 * exit is called with a mutex that another thread wants, and memory that it would have freed.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The other thread gets the mutex before, or never; nobody waits for ever and nothing is leaked.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused) {
    int *p = malloc(sizeof *p);
    *p = 1;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    free(p);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    pthread_mutex_lock(&m);
    exit(0);
}
