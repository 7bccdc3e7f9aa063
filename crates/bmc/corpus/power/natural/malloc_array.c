#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int *cells;
void *first(void *u) { for (int i = 0; i < 3; i++) atomic_store_explicit(&cells[i], i, memory_order_relaxed); return 0; }
int main(void) {
  pthread_t a;
  cells = calloc(3, sizeof *cells);
  pthread_create(&a, 0, first, 0);
  pthread_join(a, 0);
  assert(atomic_load(&cells[2]) == 2);
  return 0;
}
