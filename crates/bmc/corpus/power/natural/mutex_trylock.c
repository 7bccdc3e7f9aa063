#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;
void *first(void *u) { if (pthread_mutex_trylock(&m) == 0) { n = n + 1; pthread_mutex_unlock(&m); } return 0; }
void *second(void *u) { pthread_mutex_lock(&m); n = n + 1; pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 1 || n == 2);
  return 0;
}
