// Load buffering and a lock in the words of PS2SC, which need no header here.
#include <assert.h>
#include <pthread.h>

int x, y, lock, data;

void *one(void *unused) {
  int r;
  rlx_read_ps(x, r);
  rlx_write_ps(y, 1);
#ifdef LOCK
  cas_ps(lock, 0, 1);
  sc_fence();
  rlx_read_ps(data, r);
  __CSEQ_assume(r < 2);
  rlx_write_ps(data, r + 1);
#endif
  return NULL;
}

void *two(void *unused) {
  int r, s;
  rlx_read_ps(y, r);
  rlx_write_ps(x, r);
#ifdef LOCK
  // Nobody unlocks.
  cas_ps(lock, 0, 1);
  rlx_read_ps(data, r);
  assert(r == 0);
#else
  rlx_read_ps(x, s);
  assert(s == 0);
#endif
  return NULL;
}

int main() {
  pthread_t a, b;
  pthread_create(&a, NULL, one, NULL);
  pthread_create(&b, NULL, two, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
