// A lock of one word, taken by compare-exchange. All threads have SC fences but the last one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int word, x;

void fence(int fenced) {
  if (fenced)
    atomic_thread_fence(memory_order_seq_cst);
}

void *thread(void *argument) {
  int me = (int)(long)argument, fenced = me < N, none = 0;
  while (!atomic_compare_exchange_strong_explicit(&word, &none, 1, memory_order_relaxed, memory_order_relaxed))
    none = 0;
  fence(fenced);
  store(x, me);
  assert(load(x) == me);
  fence(fenced);
  store(word, 0);
  return 0;
}

pthread_t t[N + 1];

int main(void) {
  for (long k = 1; k <= N; k++)
    pthread_create(&t[k], 0, thread, (void *)k);
  return 0;
}
