// A queue behind a lock with SC fences: N threads put one value each, another one takes what is there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int word, first, last, cell[N];

void lock(void) {
  int none = 0;
  while (!atomic_compare_exchange_strong_explicit(&word, &none, 1, memory_order_relaxed, memory_order_relaxed))
    none = 0;
  atomic_thread_fence(memory_order_seq_cst);
}

void unlock(void) {
  atomic_thread_fence(memory_order_seq_cst);
  store(word, 0);
}

void *put(void *value) {
  lock();
  int at = load(last);
  store(cell[at], (int)(long)value);
  store(last, at + 1);
  unlock();
  return 0;
}

void *take(void *unused) {
  lock();
  int at = load(first);
  if (at < load(last)) {
    assert(load(cell[at]) != 0);
    store(first, at + 1);
  }
  unlock();
  return 0;
}

pthread_t t[N + 1];

int main(void) {
  for (long k = 1; k <= N; k++)
    pthread_create(&t[k], 0, put, (void *)k);
  pthread_create(&t[0], 0, take, 0);
  return 0;
}
