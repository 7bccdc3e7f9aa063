// As exponential.c, each access under one lock: the locks of the published benchmark. A third thread has to see the first three of both alternate.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int x;
void *one(void *unused) {
  for (int k = 1; k <= N; k++) {
    pthread_mutex_lock(&m);
    store(x, k);
    pthread_mutex_unlock(&m);
  }
  return 0;
}
void *two(void *unused) {
  for (int k = 1; k <= N; k++) {
    pthread_mutex_lock(&m);
    store(x, N + k);
    pthread_mutex_unlock(&m);
  }
  return 0;
}
int locked(void) {
  pthread_mutex_lock(&m);
  int v = load(x);
  pthread_mutex_unlock(&m);
  return v;
}

void *three(void *unused) {
  int a = locked(), b = locked(), c = locked(), d = locked(), e = locked(), f = locked();
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
