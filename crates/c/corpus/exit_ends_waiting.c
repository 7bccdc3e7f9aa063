/*
 * Nor does anybody wait for ever.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The semaphore is never posted, but the process ends.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

sem_t s;

void *t0(void *a) { exit(0); }

int main(void) { pthread_t p; sem_init(&s, 0, 0); pthread_create(&p, 0, t0, 0); sem_wait(&s); return 0; }
