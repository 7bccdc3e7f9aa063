/*
 * A failure order that is no order of a load: a warning, taken as its load part.
 * expect: all=safe
 * warns: the order of a failed compare-exchange is that of a load
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

atomic_int x;

int main(void) { int r = 0; atomic_compare_exchange_strong_explicit(&x, &r, 1, memory_order_release, memory_order_release); return 0; }
