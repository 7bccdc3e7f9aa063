#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int in; int x, y;
void *first(void *u) { x = 1; atomic_fetch_add(&in, 1); while (atomic_load(&in) < 2) { } assert(y == 1); return 0; }
void *second(void *u) { y = 1; atomic_fetch_add(&in, 1); while (atomic_load(&in) < 2) { } assert(x == 1); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
