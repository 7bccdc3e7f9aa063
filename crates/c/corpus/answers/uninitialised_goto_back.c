/*
 * A jump back over a declaration takes the value away, although the first round wrote it.
 * expect: all=FP0307
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    int round = 0, sum = 0;
again:;
    int x;
    if (round == 0)
        x = 1;
    sum += x;
    if (round++ == 0)
        goto again;
    return sum;
}
