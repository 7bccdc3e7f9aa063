#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int data; _Atomic(int *) p;
void *first(void *u) { data = 5; atomic_store_explicit(&p, &data, memory_order_release); return 0; }
void *second(void *u) { int *q = atomic_load_explicit(&p, memory_order_acquire); if (q) assert(*q == 5); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
