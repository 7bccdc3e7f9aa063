#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct pair { int a, b; } s; atomic_int done;
void *first(void *u) { s.a = 1; s.b = 2; atomic_store_explicit(&done, 1, memory_order_release); return 0; }
void *second(void *u) { if (atomic_load_explicit(&done, memory_order_acquire)) assert(s.a + s.b == 3); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
