/*
 * Moved towards the start, with a size that is not a constant.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int a[5] = { 1, 2, 3, 4, 5 };
volatile int n = 4;

int main(void) { memmove(a, a + 1, n * sizeof(int)); assert(a[0] == 2 && a[1] == 3 && a[2] == 4 && a[3] == 5 && a[4] == 5); return 0; }
