/*
 * A pointer that nobody wrote goes through memcpy and a function, and is followed.
 * expect: all=FP0307
 */
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; };

static struct node *next_of(struct node *n) { return n->next; }

int main(void)
{
    struct node a, *b = malloc(sizeof *b);
    a.value = 1;
    memcpy(b, &a, sizeof a);
    struct node *c = next_of(b);
    int value = c->value;
    free(b);
    return value == 2;
}
