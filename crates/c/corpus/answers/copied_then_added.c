/*
 * A structure is copied with a member that nobody wrote, and the member of the copy is used in arithmetic.
 * expect: all=FP0307
 */
#include <pthread.h>

struct pair { int used, spare; };

static int sum;

static void *worker(void *arg)
{
    struct pair p, q;
    (void)arg;
    p.used = 1;
    q = p;
    sum = q.used + q.spare;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
