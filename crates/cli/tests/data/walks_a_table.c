#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
static const int primes[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 0 };
atomic_int sum;
void *w(void *a) { for (const int *p = primes; *p; p++) if (*p > 28) atomic_fetch_add(&sum, *p); return 0; }
int main(void) { pthread_t t, u; pthread_create(&t,0,w,0); pthread_create(&u,0,w,0); pthread_join(t,0); pthread_join(u,0); assert(sum == 120); }
