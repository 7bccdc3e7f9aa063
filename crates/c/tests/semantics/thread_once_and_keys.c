#include <pthread.h>
#include <stdlib.h>
static pthread_once_t once = PTHREAD_ONCE_INIT; static int inits, freed; static pthread_key_t key; static void destroy(void *p) { __atomic_fetch_add(&freed, *(int *)p, 5); free(p); } static void init(void) { inits++; pthread_key_create(&key, destroy); } static int *mine(void) { pthread_once(&once, init); int *p = pthread_getspecific(key); if (!p) { p = malloc(sizeof(int)); *p = 0; pthread_setspecific(key, p); } return p; }
static void *w(void *a) { *mine() += (long)a; *mine() += 1; if ((long)a == 2) pthread_exit(0); return 0; }
void run(void) { pthread_t t[3]; for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, w, (void *)i); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); OUT(inits); OUT(freed); OUT(pthread_getspecific(key) == 0); }
