#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define get(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define set(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
#define acquire(x) atomic_load_explicit(&(x), memory_order_acquire)
#define release(x, v) atomic_store_explicit(&(x), v, memory_order_release)

atomic_int turn;
int data;

void *first(void *u) {
  data = 1;
  release(turn, 1);
  while (acquire(turn) != 2)
    ;
  assert(data == 2);
  return 0;
}

void *second(void *u) {
  while (acquire(turn) != 1)
    ;
  assert(data == 1);
  data = 2;
  release(turn, 2);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
