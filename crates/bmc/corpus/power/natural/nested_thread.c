#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int x, y;
void *inner(void *u) { assert(x == 1); y = 1; return 0; }
void *outer(void *u) {
  pthread_t t;
  x = 1;
  pthread_create(&t, 0, inner, 0);
  pthread_join(t, 0);
  assert(y == 1);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, outer, 0);
  pthread_join(t, 0);
  assert(x == 1 && y == 1);
  return 0;
}
