#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int taken, winners;
void *first(void *u) { if (atomic_exchange(&taken, 1) == 0) atomic_fetch_add(&winners, 1); return 0; }
void *second(void *u) { if (atomic_exchange(&taken, 1) == 0) atomic_fetch_add(&winners, 1); return 0; }
int main(void) {
  pthread_t a, b;
  
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&winners) == 1);
  return 0;
}
