#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;
int y;
void *first(void *u) { atomic_store_explicit(&x, 1, memory_order_relaxed); return 0; }
void *second(void *u) { assert(y == 1); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  y = 1;
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&x) == 1);
  return 0;
}
