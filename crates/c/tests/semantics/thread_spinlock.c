#include <pthread.h>
static pthread_spinlock_t s; static int n; static void *w(void *a) { for (int i = 0; i < 4; i++) { pthread_spin_lock(&s); n++; pthread_spin_unlock(&s); } return a; }
void run(void) { pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE); pthread_t a, b; pthread_create(&a, 0, w, (void *)3); pthread_create(&b, 0, &w, 0); void *r; pthread_join(a, &r); pthread_join(b, NULL); OUT(n); OUT((long)r); OUT(pthread_spin_trylock(&s)); OUT(pthread_spin_trylock(&s)); pthread_spin_unlock(&s); pthread_detach(pthread_self()); }
