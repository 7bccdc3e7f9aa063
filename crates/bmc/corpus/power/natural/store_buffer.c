#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int x, y; int r, s;
void *first(void *u) { atomic_store_explicit(&x, 1, memory_order_relaxed); r = atomic_load_explicit(&y, memory_order_relaxed); return 0; }
void *second(void *u) { atomic_store_explicit(&y, 1, memory_order_relaxed); s = atomic_load_explicit(&x, memory_order_relaxed); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(r + s > 0);
  return 0;
}
