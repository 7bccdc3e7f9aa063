#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdbool.h>
enum state { IDLE, BUSY = 7 };
_Atomic int balance = 0;
_Atomic(enum state) st = IDLE;
atomic_bool flag;
_Atomic char ch;
_Atomic unsigned u;
struct node { _Atomic int v; struct node *next; } n1;
struct node *_Atomic head;
void *w(void *a) {
    atomic_fetch_sub(&balance, 4);
    atomic_store(&st, BUSY);
    atomic_store(&flag, true);
    atomic_store(&ch, 'x');
    atomic_store(&u, 4294967292u);
    atomic_store(&head, &n1);
    return 0;
}
int main(void) {
    pthread_t t; pthread_create(&t, 0, w, 0);
    int b = balance; enum state s = st; bool f = flag; char c = ch; unsigned uu = u; struct node *h = head;
    assert(!(b < 0 && s == BUSY && f && c == 'x' && uu && h));
    pthread_join(t, 0);
}
