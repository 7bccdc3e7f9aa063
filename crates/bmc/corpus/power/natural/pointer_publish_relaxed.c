#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int data; _Atomic(atomic_int *) p;
void *first(void *u) { atomic_store_explicit(&data, 5, memory_order_relaxed); atomic_store_explicit(&p, &data, memory_order_relaxed); return 0; }
void *second(void *u) { atomic_int *q = atomic_load_explicit(&p, memory_order_relaxed); if (q) assert(atomic_load_explicit(q, memory_order_relaxed) == 5); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
