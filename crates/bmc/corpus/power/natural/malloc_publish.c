#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { int value; struct node *next; };
_Atomic(struct node *) head;
void *producer(void *u) {
  struct node *n = malloc(sizeof *n);
  n->value = 9;
  n->next = 0;
  atomic_store_explicit(&head, n, memory_order_release);
  return 0;
}
void *consumer(void *u) {
  struct node *n = atomic_load_explicit(&head, memory_order_acquire);
  if (n) assert(n->value == 9 && n->next == 0);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, producer, 0);
  pthread_create(&b, 0, consumer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
