#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int *cell;
void *first(void *u) { *cell = 3; return 0; }
int main(void) {
  pthread_t a;
  cell = malloc(sizeof *cell);
  *cell = 1;
  pthread_create(&a, 0, first, 0);
  pthread_join(a, 0);
  assert(*cell == 3);
  free(cell);
  return 0;
}
