// Two threads add each other's number to their own, N times, or write one more than the other one (TRIANGULAR), under a lock; the largest number
// comes from strict alternation.
#include <assert.h>
#include <pthread.h>

#ifdef TRIANGULAR
#define ONE i = j + 1
#define TWO j = i + 1
#define LARGEST (2 * N + 6)
int i = 3, j = 6;
#else
#define ONE i += j
#define TWO j += i
#if N == 2
#define LARGEST 8
#elif N == 3
#define LARGEST 21
#elif N == 4
#define LARGEST 55
#elif N == 5
#define LARGEST 144
#endif
int i = 1, j = 1;
#endif
#ifdef WRONG
#define WITHIN(v) ((v) < LARGEST)
#else
#define WITHIN(v) ((v) <= LARGEST)
#endif

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *one(void *unused) {
  for (int k = 0; k < N; k++) {
    pthread_mutex_lock(&m);
    ONE;
    pthread_mutex_unlock(&m);
  }
  return 0;
}

void *two(void *unused) {
  for (int k = 0; k < N; k++) {
    pthread_mutex_lock(&m);
    TWO;
    pthread_mutex_unlock(&m);
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_mutex_lock(&m);
  int within = WITHIN(i) && WITHIN(j);
  pthread_mutex_unlock(&m);
  assert(within);
  return 0;
}
