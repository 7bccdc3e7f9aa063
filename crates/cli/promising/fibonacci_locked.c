#include <assert.h>
#include <pthread.h>
#ifndef N
#define N 3
#endif
int i = 1, j = 1;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *t1(void *a) { for (int k = 0; k < N; k++) { pthread_mutex_lock(&m); i += j; pthread_mutex_unlock(&m);} return 0; }
void *t2(void *a) { for (int k = 0; k < N; k++) { pthread_mutex_lock(&m); j += i; pthread_mutex_unlock(&m);} return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, t1, 0);
  pthread_create(&b, 0, t2, 0);
  pthread_mutex_lock(&m);
  int ok = i CMP BIG && j CMP BIG;
  pthread_mutex_unlock(&m);
  assert(ok);
  return 0;
}
