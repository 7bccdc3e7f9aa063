/*
 * A mutex is initialised twice.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m;

int main(void) { pthread_mutex_init(&m, 0); pthread_mutex_init(&m, 0); return 0; }
