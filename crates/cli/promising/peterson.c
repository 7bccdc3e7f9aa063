// Peterson's lock for N threads with SC fences; the last thread has none (UNFENCED), or one thread is wrong inside (WRONG).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int level[N], last[N], x;

#define FENCE atomic_thread_fence(memory_order_seq_cst)
#define LOCK(fence)                                                \
  for (int l = 1; l < N; l++) {                                    \
    store(level[me], l);                                           \
    fence;                                                         \
    store(last[l], me);                                            \
    fence;                                                         \
    for (int k = 0; k < N; k++)                                    \
      if (k != me)                                                 \
        while (load(level[k]) >= l && load(last[l]) == me)         \
          fence;                                                   \
  }

void *fenced(void *argument) {
  int me = (int)(long)argument;
  LOCK(FENCE)
  FENCE;
  store(x, me);
  assert(load(x) == me);
  FENCE;
  store(level[me], 0);
  return 0;
}

#ifdef UNFENCED
void *other(void *argument) {
  int me = (int)(long)argument;
  LOCK((void)0)
  store(x, me);
  assert(load(x) == me);
  store(level[me], 0);
  return 0;
}
#elif defined(WRONG)
void *other(void *argument) {
  int me = (int)(long)argument;
  LOCK(FENCE)
  FENCE;
  store(x, me);
  assert(load(x) != me);
  FENCE;
  store(level[me], 0);
  return 0;
}
#else
#define other fenced
#endif

pthread_t t[N];

int main(void) {
  for (long k = 0; k < N; k++)
#ifdef WRONG
    pthread_create(&t[k], 0, k == WRONG - 1 ? other : fenced, (void *)k);
#else
    pthread_create(&t[k], 0, k == N - 1 ? other : fenced, (void *)k);
#endif
  return 0;
}
