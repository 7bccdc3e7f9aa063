#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int l; int n;
void lock(void) { int e = 0; while (!atomic_compare_exchange_strong(&l, &e, 1)) e = 0; }
void unlock(void) { atomic_store_explicit(&l, 0, memory_order_release); }

void *first(void *u) { lock(); n = n + 1; unlock(); return 0; }
void *second(void *u) { lock(); n = n + 1; unlock(); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
