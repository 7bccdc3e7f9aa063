/*
 * The same where every round writes before it reads.
 * expect: all=safe
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
        else
            x = 2;
        sum += x;
    }
    assert(sum == 3);
    return 0;
}
