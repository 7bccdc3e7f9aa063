/*
 * A variable of a loop body is a new one in every round.
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
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        int x;
        if (i == 0)
            x = 1;
        sum += x;
    }
    return sum;
}
