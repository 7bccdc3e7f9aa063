#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
atomic_int x; int n;
void *first(void *u) { atomic_store_explicit(&x, n * 3, memory_order_relaxed); return 0; }
void *second(void *u) { assert(atomic_load_explicit(&x, memory_order_relaxed) != 21); return 0; }
int main(void) {
  pthread_t a, b;
  n = __VERIFIER_nondet_int();
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
