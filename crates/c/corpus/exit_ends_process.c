/*
 * exit ends every thread: nobody returns from a join of the one that called it.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The joined thread ends the process, so main never gets to the assertion.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

void *t0(void *a) { exit(0); }

int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_join(p, 0); assert(0); return 0; }
