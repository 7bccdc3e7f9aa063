#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct item { long long a; _Atomic(long long) b; } s;
void *first(void *u) { s.a = 1; atomic_store_explicit(&s.b, 1LL << 40, memory_order_release); return 0; }
void *second(void *u) { if (atomic_load_explicit(&s.b, memory_order_acquire) == (1LL << 40)) assert(s.a == 1); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
