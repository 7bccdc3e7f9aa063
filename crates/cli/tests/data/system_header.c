#include <sys/queue.h>
#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>
#include <search.h>
SLIST_HEAD(h, n) head; struct n { SLIST_ENTRY(n) e; int v; };
atomic_int x;
void *w(void *a) { atomic_store(&x, VALUE); return 0; }
int main(void) { pthread_t t; SLIST_INIT(&head); struct n a; a.v = 3; SLIST_INSERT_HEAD(&head, &a, e); pthread_create(&t,0,w,0); pthread_join(t,0); assert(SLIST_FIRST(&head)->v == 3 && x == 4); }
