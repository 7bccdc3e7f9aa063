/*
 * Posting needs a semaphore, too.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

sem_t s;

int main(void) { sem_post(&s); return 0; }
