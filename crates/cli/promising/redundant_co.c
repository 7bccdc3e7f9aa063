// Two threads write the same value again and again; a reader never sees the initial value again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int x;

void *writer(void *value) {
  for (int k = 0; k < N; k++)
    store(x, (int)(long)value);
  return 0;
}

void *reader(void *unused) {
  int a = load(x), b = load(x);
  assert(0 <= a && a <= 2 && !(a && !b));
  return 0;
}

pthread_t t[3];

int main(void) {
  pthread_create(&t[0], 0, writer, (void *)1L);
  pthread_create(&t[1], 0, writer, (void *)2L);
  pthread_create(&t[2], 0, reader, 0);
  return 0;
}
