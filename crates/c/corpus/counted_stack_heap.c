/*
 * The stack of counted_stack.c in memory that main allocates, given to threads through `void *`: 16 bytes are exchanged at once.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: Each pop takes a node of its own, since the counter changes with every exchange.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <assert.h>
#include <pthread.h>
struct node { struct node *next; int value; };
struct head { struct node *top; uintptr_t tag; };
struct stack { _Atomic struct head head; int pops; };
static void push(struct stack *s, struct node *n) {
    struct head old = atomic_load(&s->head), new;
    do { n->next = old.top; new.top = n; new.tag = old.tag + 1; }
    while (!atomic_compare_exchange_weak(&s->head, &old, new));
}
static struct node *pop(struct stack *s) {
    struct head old = atomic_load(&s->head), new;
    do { if (!old.top) return 0; new.top = old.top->next; new.tag = old.tag + 1; }
    while (!atomic_compare_exchange_weak(&s->head, &old, new));
    return old.top;
}
static struct node nodes[2];
static void *worker(void *arg) {
    struct stack *s = arg;
    struct node *n = pop(s);
    assert(n);
    n->value++;
    return 0;
}
int main(void) {
    struct stack *s = malloc(sizeof *s);
    atomic_init(&s->head, ((struct head){0, 0}));
    push(s, &nodes[0]); push(s, &nodes[1]);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, s);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(nodes[0].value == 1 && nodes[1].value == 1);
    struct head end = atomic_load(&s->head);
    assert(end.tag == 4 && !end.top);
    free(s);
}
