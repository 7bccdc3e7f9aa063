#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
atomic_int x, y; int n;
void *first(void *u) { atomic_store_explicit(&x, n, memory_order_relaxed); atomic_store_explicit(&y, 1, memory_order_release); return 0; }
void *second(void *u) { if (atomic_load_explicit(&y, memory_order_acquire)) assert(atomic_load_explicit(&x, memory_order_relaxed) == n); return 0; }
int main(void) {
  pthread_t a, b;
  n = __VERIFIER_nondet_int();
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
