#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define get(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define set(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
#define acquire(x) atomic_load_explicit(&(x), memory_order_acquire)
#define release(x, v) atomic_store_explicit(&(x), v, memory_order_release)

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int from = 5, to;

void *first(void *u) {
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&n);
  from -= 2;
  to += 2;
  pthread_mutex_unlock(&n);
  pthread_mutex_unlock(&m);
  return 0;
}

void *second(void *u) {
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&n);
  assert(from + to == 5);
  pthread_mutex_unlock(&n);
  pthread_mutex_unlock(&m);
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
