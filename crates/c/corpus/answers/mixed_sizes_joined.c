/*
 * One thread writes an int and another, which has joined it, reads its bytes: the accesses are ordered, and C says what the bytes are.
 * expect: all=safe
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
