// Szymanski's lock for N threads with SC fences; the last thread has none (UNFENCED), or one thread is wrong inside (WRONG).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

atomic_int flag[N], x;

#define FENCE atomic_thread_fence(memory_order_seq_cst)
#define SOME(found, low, high, fence)                              \
  found = 0;                                                       \
  for (int k = 0; k < N; k++) {                                    \
    int f = load(flag[k]);                                         \
    fence;                                                         \
    if (k != me && f >= low && f <= high)                          \
      found = 1;                                                   \
  }
#define LOCK(fence)                                                \
  int found;                                                       \
  store(flag[me], 1);                                              \
  fence;                                                           \
  do {                                                             \
    SOME(found, 3, 4, fence)                                       \
  } while (found);                                                 \
  store(flag[me], 3);                                              \
  fence;                                                           \
  SOME(found, 1, 1, fence)                                         \
  if (found) {                                                     \
    store(flag[me], 2);                                            \
    fence;                                                         \
    do {                                                           \
      SOME(found, 4, 4, fence)                                     \
    } while (!found);                                              \
  }                                                                \
  store(flag[me], 4);                                              \
  fence;                                                           \
  for (int k = 0; k < me; k++)                                     \
    while (load(flag[k]) >= 2)                                     \
      fence;

void *fenced(void *argument) {
  int me = (int)(long)argument;
  LOCK(FENCE)
  FENCE;
  store(x, me);
  assert(load(x) == me);
  FENCE;
  store(flag[me], 0);
  return 0;
}

#ifdef UNFENCED
void *other(void *argument) {
  int me = (int)(long)argument;
  LOCK((void)0)
  store(x, me);
  assert(load(x) == me);
  store(flag[me], 0);
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
  store(flag[me], 0);
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
