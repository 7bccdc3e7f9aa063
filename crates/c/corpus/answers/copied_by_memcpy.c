/*
 * memcpy and a chain of variables take an uninitialised element along; it is overwritten before anybody looks.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int *box;

static void *worker(void *arg)
{
    int raw[3];
    (void)arg;
    raw[0] = 5;
    memcpy(box, raw, sizeof raw);
    int last = box[2];
    int same = last;
    box[1] = same;
    box[1] = 6;
    box[2] = 7;
    return 0;
}

int main(void)
{
    pthread_t t;
    box = malloc(3 * sizeof(int));
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    assert(box[0] + box[1] + box[2] == 18);
    free(box);
    return 0;
}
