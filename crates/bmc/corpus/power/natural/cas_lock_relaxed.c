#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int l, n;
void lock(void) { int e = 0; while (!atomic_compare_exchange_strong_explicit(&l, &e, 1, memory_order_relaxed, memory_order_relaxed)) e = 0; }
void unlock(void) { atomic_store_explicit(&l, 0, memory_order_relaxed); }

void *first(void *u) { lock(); int r = atomic_load_explicit(&n, memory_order_relaxed); atomic_store_explicit(&n, r + 1, memory_order_relaxed); unlock(); return 0; }
void *second(void *u) { lock(); int r = atomic_load_explicit(&n, memory_order_relaxed); atomic_store_explicit(&n, r + 1, memory_order_relaxed); unlock(); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&n) == 2);
  return 0;
}
