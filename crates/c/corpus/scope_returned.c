/*
 * The same with an object whose scope has ended.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * why: The object is read behind its block, and the thread is joined.
 */
#include <pthread.h>

void *t0(void *a) { int *p; { int x = 1; p = &x; } return (void *)(long)*p; }
int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_join(p, 0); return 0; }
