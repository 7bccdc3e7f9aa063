#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
atomic_int x, y; 
void *w(void *a) { atomic_store_explicit(&x, 1, memory_order_relaxed); atomic_store_explicit(&y, 1, memory_order_relaxed); return 0; }
int main(void) { pthread_t t; pthread_create(&t,0,w,0); int a = atomic_load_explicit(&y, memory_order_relaxed), b = atomic_load_explicit(&x, memory_order_relaxed); assert(!(a && !b)); pthread_join(t,0); }
