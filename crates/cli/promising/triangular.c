// Two threads write one more than what they read of each other, N times.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

#define LARGEST (2 * N + 6)
#ifdef WRONG
#define WITHIN(v) ((v) < LARGEST)
#else
#define WITHIN(v) ((v) <= LARGEST)
#endif

atomic_int i = 3, j = 6;

void *one(void *unused) {
  for (int k = 0; k < N; k++)
    store(i, load(j) + 1);
  return 0;
}

void *two(void *unused) {
  for (int k = 0; k < N; k++)
    store(j, load(i) + 1);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  assert(WITHIN(load(i)) && WITHIN(load(j)));
  return 0;
}
