/*
 * Two threads write the halves of what was cleared as a word, and a third access sees the whole again.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The halves are different objects, whatever the size of the accesses before and after the threads.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *cleared(size_t size) {
    void *p = malloc(size);
    memset(p, 0, size);
    return p;
}

static int *pair;

static void *first(void *unused) {
    pair[0] = 1;
    return unused;
}

static void *second(void *unused) {
    pair[1] = 2;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pair = cleared(2 * sizeof(int));
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unsigned long long both;
    memcpy(&both, pair, sizeof both);
    assert(both == 0x200000001ull);
    free(pair);
    return 0;
}
