// Fibonacci behind load buffering: only a thread whose promise was read may complain, and it fulfils the promise at once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

#if N == 2
#define LARGEST 8
#elif N == 3
#define LARGEST 21
#else
#define LARGEST 55
#endif

atomic_int i = 1, j = 1, f, g;

void *one(void *unused) {
  int early = load(f);
  store(g, 1);
  for (int k = 0; k < N; k++)
    store(i, load(i) + load(j));
  assert(!(early && load(j) >= LARGEST));
  return 0;
}

void *two(void *unused) {
  int seen = load(g);
  store(f, seen);
  for (int k = 0; k < N; k++)
    store(j, load(j) + load(i));
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  return 0;
}
