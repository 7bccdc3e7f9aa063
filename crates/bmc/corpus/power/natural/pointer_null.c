#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int data; _Atomic(atomic_int *) p;
void *first(void *u) { atomic_store(&p, &data); return 0; }
void *second(void *u) { atomic_int *q = atomic_load(&p); atomic_store(q, 1); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
