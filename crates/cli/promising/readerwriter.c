// N writers and a reader that never sees the initial value again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int x;

void *writer(void *value) {
  store(x, (int)(long)value);
  return 0;
}

void *reader(void *unused) {
  int a = load(x), b = load(x);
  assert(0 <= a && a <= N && !(a && !b));
  return 0;
}

pthread_t t[N + 1];

int main(void) {
  for (long k = 1; k <= N; k++)
    pthread_create(&t[k], 0, writer, (void *)k);
  pthread_create(&t[0], 0, reader, 0);
  return 0;
}
