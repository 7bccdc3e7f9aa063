#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define get(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define set(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
#define acquire(x) atomic_load_explicit(&(x), memory_order_acquire)
#define release(x, v) atomic_store_explicit(&(x), v, memory_order_release)

atomic_int data, flag;

void *first(void *u) {
  set(data, 1);
  atomic_thread_fence(memory_order_release);
  set(flag, 1);
  return 0;
}

void *second(void *u) {
  if (get(flag)) {
    atomic_thread_fence(memory_order_acquire);
    assert(get(data) == 1);
  }
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
