// Two threads write N values each; a third has to see the first three of both alternate.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int x;

void *one(void *unused) {
  for (int k = 1; k <= N; k++)
    store(x, k);
  return 0;
}

void *two(void *unused) {
  for (int k = 1; k <= N; k++)
    store(x, N + k);
  return 0;
}

void *three(void *unused) {
  int a = load(x), b = load(x), c = load(x), d = load(x), e = load(x), f = load(x);
  assert(!(a == 1 && b == N + 1 && c == 2 && d == N + 2 && e == 3 && f == N + 3));
  return 0;
}

pthread_t t[3];

int main(void) {
  pthread_create(&t[0], 0, one, 0);
  pthread_create(&t[1], 0, two, 0);
  pthread_create(&t[2], 0, three, 0);
  return 0;
}
