#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define get(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define set(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
#define acquire(x) atomic_load_explicit(&(x), memory_order_acquire)
#define release(x, v) atomic_store_explicit(&(x), v, memory_order_release)

int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int a0, b0;

void *first(void *u) {
  int n = __VERIFIER_nondet_int();
  pthread_mutex_lock(&m);
  a0 = n;
  b0 = n;
  pthread_mutex_unlock(&m);
  return 0;
}

void *second(void *u) {
  pthread_mutex_lock(&m);
  assert(a0 == b0);
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
