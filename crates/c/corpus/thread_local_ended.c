/*
 * A thread-local object ends with its thread.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: Main writes to the copy of a thread that it has joined.
 */
#include <pthread.h>

static _Thread_local int v;
int *g;

void *t0(void *a) { v = 3; g = &v; return 0; }

int main(void) { pthread_t p; pthread_create(&p, 0, t0, 0); pthread_join(p, 0); *g = 4; return 0; }
