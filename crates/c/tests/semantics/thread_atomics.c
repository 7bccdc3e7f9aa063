#include <pthread.h>
#include <stdatomic.h>
static atomic_int n, spin; static _Atomic long sum; static struct node { int v; struct node *next; } nodes[4]; static _Atomic(struct node *) top; static void *w(void *a) { long i = (long)a; nodes[i].v = i + 1; struct node *old = atomic_load(&top); do nodes[i].next = old; while (!atomic_compare_exchange_weak(&top, &old, &nodes[i])); atomic_fetch_add_explicit(&n, 1, memory_order_relaxed); sum += i; while (atomic_exchange(&spin, 1)) ; spin = 0; return 0; }
void run(void) { pthread_t t[4]; for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, w, (void *)i); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); OUT(n); OUT(sum); int s = 0, k = 0; for (struct node *p = top; p; p = p->next) { s += p->v; k++; } OUT(s); OUT(k); }
