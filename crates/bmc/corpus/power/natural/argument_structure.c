#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define get(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define set(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
#define acquire(x) atomic_load_explicit(&(x), memory_order_acquire)
#define release(x, v) atomic_store_explicit(&(x), v, memory_order_release)

struct job {
  int in, out;
};
struct job one = {2, 0}, two = {3, 0};

void *first(void *u) {
  struct job *job = u;
  job->out = job->in * 2;
  return 0;
}

void *second(void *u) {
  struct job *job = u;
  job->out = job->in * 2;
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, &one);
  pthread_create(&b, 0, second, &two);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(one.out + two.out == 10);
  return 0;
}
