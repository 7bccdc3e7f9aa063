/*
 * A case behind an initialiser that no path reaches.
 * expect: all=FP0307
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int pick(int n)
{
    switch (n) {
    case 0:;
        int x = 7;
        return x;
    case 1:
        return x;
    }
    return 0;
}

int main(void) { return pick(1); }
