/*
 * A reference count in the style of Linux: who drops the last reference frees.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: atomic_dec_and_test is fully ordered and exactly one thread sees zero.
 */
#include <linux.h>
#include <pthread.h>
#include <assert.h>
#include <stdlib.h>

struct object {
    atomic_t references;
    int value;
};
static struct object *o;

static void *worker(void *arg) {
    assert(o->value == 3);
    if (atomic_dec_and_test(&o->references))
        free(o);
    return 0;
}

int main(void) {
    o = malloc(sizeof *o);
    atomic_set(&o->references, 2);
    o->value = 3;
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
