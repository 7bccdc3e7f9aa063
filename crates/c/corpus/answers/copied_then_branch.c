/*
 * An uninitialised element is copied twice by a thread and decides a branch in another.
 * expect: all=FP0307
 */
#include <pthread.h>
#include <stdlib.h>

static int box[2], seen;

static void *worker(void *arg)
{
    int *raw = malloc(2 * sizeof(int));
    (void)arg;
    raw[0] = 1;
    box[0] = raw[0];
    box[1] = raw[1];
    free(raw);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    if (box[1])
        seen = 1;
    return 0;
}
