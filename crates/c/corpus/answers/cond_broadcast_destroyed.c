/*
 * So is a broadcast.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_cond_t c = PTHREAD_COND_INITIALIZER;

int main(void) { pthread_cond_destroy(&c); pthread_cond_broadcast(&c); return 0; }
