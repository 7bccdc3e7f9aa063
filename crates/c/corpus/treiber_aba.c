/*
 * A Treiber stack whose pop frees the node: the next reader of that node uses freed memory.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: Between reading the top and reading its successor another thread may pop and free the node.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdlib.h>

struct node {
    struct node *next;
};
static _Atomic(struct node *) top;

static void *popper(void *arg) {
    struct node *old = atomic_load(&top);
    while (old) {
        struct node *next = old->next;
        if (atomic_compare_exchange_strong(&top, &old, next)) {
            free(old);
            break;
        }
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        struct node *n = malloc(sizeof *n);
        n->next = atomic_load(&top);
        atomic_store(&top, n);
    }
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, popper, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
