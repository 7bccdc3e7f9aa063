/*
 * A semaphore is initialised twice.
 * expect: all=FP0402
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

sem_t s;

int main(void) { sem_init(&s, 0, 1); sem_init(&s, 0, 0); return 0; }
