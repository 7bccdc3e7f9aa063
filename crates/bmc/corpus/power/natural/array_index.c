#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int cells[4], i;
void *first(void *u) { atomic_store_explicit(&i, 3, memory_order_relaxed); return 0; }
void *second(void *u) { int k = atomic_load_explicit(&i, memory_order_relaxed); atomic_store_explicit(&cells[k], 1, memory_order_relaxed); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&cells[1]) == 0);
  return 0;
}
