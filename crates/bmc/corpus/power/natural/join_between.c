#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int x;
void *first(void *u) { x = 1; return 0; }
void *second(void *u) { assert(x == 2); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_join(a, 0);
  assert(x == 1);
  x = 2;
  pthread_create(&b, 0, second, 0);
  pthread_join(b, 0);
  return 0;
}
