#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int x;
void *w(void *a) { atomic_store(&x, 1); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_detach(t); int v = atomic_load(&x); assert(v == 0); return 0; }
