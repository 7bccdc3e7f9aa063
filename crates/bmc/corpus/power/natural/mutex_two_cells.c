#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;
void *first(void *u) { pthread_mutex_lock(&m); x = 1; y = 1; pthread_mutex_unlock(&m); return 0; }
void *second(void *u) { pthread_mutex_lock(&m); assert(x == y); pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
