/*
 * pthread_exit ends the lifetime of locals as a return does.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The thread has ended before main reads its local.
 */
#include <pthread.h>
#include <stdlib.h>

int *p;

void *t0(void *u) { int x = 0; p = &x; pthread_exit(0); }

int main(void) { pthread_t a; pthread_create(&a, 0, t0, 0); pthread_join(a, 0); return *p; }
