/*
 * The same with what really comes out.
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

int main(void) { memmove(a + 1, a, n * sizeof(int)); assert(a[0] == 1 && a[1] == 1 && a[2] == 2 && a[3] == 3 && a[4] == 4); return 0; }
