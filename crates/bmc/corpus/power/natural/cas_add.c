#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int n;
void *first(void *u) { int e = atomic_load(&n); while (!atomic_compare_exchange_weak(&n, &e, e + 1)) { } return 0; }
void *second(void *u) { int e = atomic_load(&n); while (!atomic_compare_exchange_weak(&n, &e, e + 1)) { } return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&n) == 2);
  return 0;
}
