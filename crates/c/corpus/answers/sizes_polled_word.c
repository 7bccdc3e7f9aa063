/*
 * Two halves are written one after the other, and another thread polls both as one word.
 * expect: all=FP0310
 * why: The halves may become visible in either order where the model lets them, and no model says what the word is between.
 *      The read that sees one half only is one that goes round again.
 */
#include <assert.h>
#include <pthread.h>

static _Alignas(4) unsigned short half[2];

static void *writer(void *arg) {
    __atomic_store_n(&half[0], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&half[1], 1, __ATOMIC_RELAXED);
    return arg;
}

static void *poller(void *arg) {
    unsigned both;
    do
        both = __atomic_load_n((unsigned *)half, __ATOMIC_RELAXED);
    while (!(both >> 16));
    assert(both & 1);
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, writer, 0);
    pthread_create(&second, 0, poller, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
