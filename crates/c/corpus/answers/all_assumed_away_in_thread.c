/*
 * An assumption that no execution keeps, in a thread.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void __VERIFIER_assume(int);

atomic_int x;

void *run(void *u) { __VERIFIER_assume(x == 3); assert(0); return 0; }

int main(void) { pthread_t p; pthread_create(&p, 0, run, 0); x = 1; pthread_join(p, 0); return 0; }
