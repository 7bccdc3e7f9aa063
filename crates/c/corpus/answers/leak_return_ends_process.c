/*
 * What is left on the heap when main returns is not lost: the process ends. A thread leaves some, too.
 * expect: all=safe
 */
#include <pthread.h>
#include <stdlib.h>

static int *box;

static void *worker(void *arg)
{
    (void)arg;
    box = malloc(sizeof *box);
    *box = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    int *own = malloc(sizeof *own);
    *own = 2;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return *own + *box == 4;
}
