// Two threads add each other's number to their own, N times; the largest number comes from strict alternation.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

#if N == 2
#define LARGEST 8
#elif N == 3
#define LARGEST 21
#elif N == 4
#define LARGEST 55
#elif N == 5
#define LARGEST 144
#endif
#ifdef WRONG
#define WITHIN(v) ((v) < LARGEST)
#else
#define WITHIN(v) ((v) <= LARGEST)
#endif

atomic_int i = 1, j = 1;

void *one(void *unused) {
  for (int k = 0; k < N; k++)
    store(i, load(i) + load(j));
  return 0;
}

void *two(void *unused) {
  for (int k = 0; k < N; k++)
    store(j, load(j) + load(i));
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  assert(WITHIN(load(i)) && WITHIN(load(j)));
  return 0;
}
