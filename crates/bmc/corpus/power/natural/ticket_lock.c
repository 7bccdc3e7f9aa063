#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define get(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define set(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
#define acquire(x) atomic_load_explicit(&(x), memory_order_acquire)
#define release(x, v) atomic_store_explicit(&(x), v, memory_order_release)

atomic_int next, serving;
int n;

void enter(void) {
  int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
  while (acquire(serving) != mine)
    ;
}

void leave(void) { release(serving, get(serving) + 1); }

void *first(void *u) {
  enter();
  n = n + 1;
  leave();
  return 0;
}

void *second(void *u) {
  enter();
  n = n + 1;
  leave();
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
