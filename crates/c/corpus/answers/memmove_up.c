/*
 * Moved towards the end, with a size that is not a constant: copying forwards would repeat the first element.
 * expect: all=FP0101
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int a[5] = { 1, 2, 3, 4, 5 };
volatile int n = 4;

int main(void) { memmove(a + 1, a, n * sizeof(int)); assert(a[4] == 1); return 0; }
