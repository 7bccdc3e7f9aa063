// The lock of Hehner and Shyamasundar for N threads, without fences: tickets, of which 0 means that one is being drawn.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

#define NONE 100

atomic_int ticket[N], x;

void *thread(void *argument) {
  int me = (int)(long)argument, mine = 0;
  store(ticket[me], 0);
  for (int k = 0; k < N; k++) {
    int other = load(ticket[k]);
    if (k != me && other != NONE && other > mine)
      mine = other;
  }
  mine++;
  store(ticket[me], mine);
  for (int k = 0; k < N; k++)
    if (k != me) {
      int other = load(ticket[k]);
      while (!(other > mine || (other == mine && me < k)))
        other = load(ticket[k]);
    }
  store(x, me);
  assert(load(x) == me);
  store(ticket[me], NONE);
  return 0;
}

pthread_t t[N];

int main(void) {
  for (int k = 0; k < N; k++)
    store(ticket[k], NONE);
  for (long k = 0; k < N; k++)
    pthread_create(&t[k], 0, thread, (void *)k);
  return 0;
}
