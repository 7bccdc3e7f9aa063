#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;
void *worker(void *p) { return (void *)(long)atomic_load(&x); }
void *other(void *p) { atomic_store(&x, 1); return 0; }
int main(void) {
  pthread_t a, b;
  void *r;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, other, 0);
  pthread_join(a, &r);
  pthread_join(b, 0);
  assert((long)r == 0);
  return 0;
}
