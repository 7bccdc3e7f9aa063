#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int values[2] = { 4, 6 };
atomic_int sum;
void *worker(void *p) { atomic_fetch_add(&sum, *(int *)p); return 0; }
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, &values[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  assert(atomic_load(&sum) == 10);
  return 0;
}
