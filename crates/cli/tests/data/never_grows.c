/* A stack that grows when it is full, in a test that never fills it: safe, and the fault in `grow` goes unnoticed. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int top, room = 4;
int grown;

void grow(void) {
    grown = 1;
    atomic_store(&room, 8);
    assert(grown == 0);
}

void push(void) {
    int place = atomic_fetch_add(&top, 1);
    if (place >= atomic_load(&room))
        grow();
}

void *pusher(void *unused) {
    push();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, pusher, 0);
    push();
    pthread_join(t, 0);
    return 0;
}
