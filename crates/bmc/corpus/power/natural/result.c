#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;
void *worker(void *p) { atomic_fetch_add(&x, 1); return (void *)(long)atomic_load(&x); }
int main(void) {
  pthread_t a, b;
  void *r, *s;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, &r);
  pthread_join(b, &s);
  assert((long)r + (long)s >= 3);
  return 0;
}
