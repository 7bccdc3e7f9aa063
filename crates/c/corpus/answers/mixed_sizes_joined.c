/*
 * One thread writes an int and another, which has joined it, reads its bytes: accesses of two threads have one size here.
 * expect: all=FP0310
 */
#include <pthread.h>
#include <stdlib.h>

static char *box;

static void *worker(void *arg)
{
    (void)arg;
    *(int *)box = 258;
    return 0;
}

int main(void)
{
    pthread_t t;
    box = malloc(4);
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    int low = box[0];
    free(box);
    return low == 3;
}
