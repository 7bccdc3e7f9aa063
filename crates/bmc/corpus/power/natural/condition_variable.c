#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready, data;

void *first(void *u) { pthread_mutex_lock(&m); data = 7; ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }
void *second(void *u) { pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); assert(data == 7); pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  
  return 0;
}
