/*
 * A structure with members that were never written goes through a call, an assignment and the heap; only the written
 * member is used. Two threads do it.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct pair { int used, spare; long other; };

static struct pair same(struct pair p) { return p; }

static void *worker(void *arg)
{
    struct pair p, *q = malloc(sizeof *q);
    p.used = *(int *)arg;
    *q = same(p);
    struct pair r = *q;
    r.spare = q->spare;
    assert(r.used == *(int *)arg);
    free(q);
    return 0;
}

int main(void)
{
    int one = 1, two = 2;
    pthread_t a, b;
    pthread_create(&a, 0, worker, &one);
    pthread_create(&b, 0, worker, &two);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
