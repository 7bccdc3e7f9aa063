// Triangular behind load buffering, as fibonacci_promise.c.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

#define LARGEST (2 * N + 6)

atomic_int i = 3, j = 6, f, g;

void *one(void *unused) {
  int early = load(f);
  store(g, 1);
  for (int k = 0; k < N; k++)
    store(i, load(j) + 1);
  assert(!(early && load(j) >= LARGEST));
  return 0;
}

void *two(void *unused) {
  int seen = load(g);
  store(f, seen);
  for (int k = 0; k < N; k++)
    store(j, load(i) + 1);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  return 0;
}
