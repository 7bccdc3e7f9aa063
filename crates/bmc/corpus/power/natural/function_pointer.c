#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int n; void add(int k) { atomic_fetch_add(&n, k); } void sub(int k) { atomic_fetch_sub(&n, k); }
void (*table[2])(int) = { add, sub }; atomic_int which;
void *first(void *u) { atomic_store(&which, 1); return 0; }
void *second(void *u) { table[atomic_load(&which)](3); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&n) == 3 || atomic_load(&n) == -3);
  return 0;
}
