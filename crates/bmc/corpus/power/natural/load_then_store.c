#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int n;
void *first(void *u) { int r = atomic_load_explicit(&n, memory_order_relaxed); atomic_store_explicit(&n, r + 1, memory_order_relaxed); return 0; }
void *second(void *u) { int r = atomic_load_explicit(&n, memory_order_relaxed); atomic_store_explicit(&n, r + 1, memory_order_relaxed); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&n) == 2);
  return 0;
}
