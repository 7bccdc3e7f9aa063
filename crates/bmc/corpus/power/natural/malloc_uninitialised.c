#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) cell;
void *first(void *u) { atomic_store(&cell, malloc(sizeof(int))); return 0; }
void *second(void *u) { int *p = atomic_load(&cell); if (p) assert(*p == *p); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
