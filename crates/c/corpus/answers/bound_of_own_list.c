/*
 * The length of a loop is that of a list that its own thread has made.
 * expect: all=FP0101
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { struct node *next; int value; };

void *run(void *a)
{
    struct node *list = 0;
    for (int i = 0; i < 12; i++) {
        struct node *n = malloc(sizeof *n);
        n->next = list;
        n->value = i;
        list = n;
    }
    int sum = 0;
    for (struct node *n = list; n; n = n->next)
        sum += n->value;
    assert(sum != 66);
    return 0;
}

int main(void) { pthread_t p; pthread_create(&p, 0, run, 0); pthread_join(p, 0); return 0; }
