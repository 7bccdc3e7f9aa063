// A stack of N places behind a lock with SC fences: one thread pushes, one pops.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int word, top, cell[N];

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

void *push(void *unused) {
  for (int k = 1; k <= N; k++) {
    lock();
    int at = load(top);
    store(cell[at], k);
    store(top, at + 1);
    unlock();
  }
  return 0;
}

void *pop(void *unused) {
  for (int k = 1; k <= N; k++) {
    lock();
    int at = load(top);
    if (at > 0) {
      assert(load(cell[at - 1]) != 0);
      store(top, at - 1);
    }
    unlock();
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, push, 0);
  pthread_create(&b, 0, pop, 0);
  return 0;
}
