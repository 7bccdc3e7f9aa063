#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { int value; struct node *next; };
_Atomic(struct node *) top;
void push(int value) {
  struct node *n = malloc(sizeof *n);
  n->value = value;
  n->next = atomic_load(&top);
  while (!atomic_compare_exchange_strong(&top, &n->next, n)) { }
}
void *first(void *u) { push(1); return 0; }
void *second(void *u) { push(2); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  struct node *n = atomic_load(&top);
  assert(n->value + n->next->value == 3);
  return 0;
}
