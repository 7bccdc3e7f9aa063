/*
 * The last thing that a joined thread does.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The value that the thread returns was never set.
 */
#include <pthread.h>

void *t0(void *a) { int x; return (void *)(long)x; }
int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_join(p, 0); return 0; }
