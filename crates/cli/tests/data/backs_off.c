#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int lock; int count;
static void pause_(int n) { for (volatile int i = 0; i < n; i++) ; }
void acquire(void) { int delay = 1; int zero = 0; while (!atomic_compare_exchange_strong(&lock, &zero, 1)) { for (int i = 0; i < delay; i++) __builtin_ia32_pause(); if (delay < 64) delay *= 2; zero = 0; } }
void *w(void *a) { for (int r = 0; r < 2; r++) { acquire(); count++; atomic_store(&lock, 0); } return 0; }
int main(void) { pthread_t t[3]; for (int i=0;i<3;i++) pthread_create(&t[i],0,w,0); for (int i=0;i<3;i++) pthread_join(t[i],0); assert(count == 6); }
