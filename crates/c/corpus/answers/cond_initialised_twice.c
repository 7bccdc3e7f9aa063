/*
 * A condition variable is initialised twice.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_cond_t c;

int main(void) { pthread_cond_init(&c, 0); pthread_cond_init(&c, 0); return 0; }
