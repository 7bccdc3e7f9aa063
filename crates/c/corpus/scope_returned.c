/*
 * The same with an object whose scope has ended.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The object is read behind its block, and the thread is joined.
 */
#include <pthread.h>

void *t0(void *a) { int *p; { int x = 1; p = &x; } return (void *)(long)*p; }
int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_join(p, 0); return 0; }
