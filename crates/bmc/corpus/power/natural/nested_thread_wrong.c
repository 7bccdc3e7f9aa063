#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x, y;
void *inner(void *u) { atomic_store_explicit(&x, 1, memory_order_relaxed); atomic_store_explicit(&y, 1, memory_order_relaxed); return 0; }
void *outer(void *u) {
  pthread_t t;
  pthread_create(&t, 0, inner, 0);
  int r = atomic_load_explicit(&y, memory_order_relaxed);
  int s = atomic_load_explicit(&x, memory_order_relaxed);
  assert(r == 0 || s == 1);
  pthread_join(t, 0);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, outer, 0);
  pthread_join(t, 0);
  return 0;
}
