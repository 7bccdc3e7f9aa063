/*
 * The second round joins the first thread again.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *t0(void *a) { return 0; }

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, t0, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[0], 0);
    return 0;
}
