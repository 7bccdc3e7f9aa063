#include <pthread.h>
#include <stdlib.h>
#include <stdatomic.h>
#include <assert.h>
struct ring { long size; _Atomic int *p; _Atomic int buffer[]; };
struct ring *r;
void *w(void *a) { atomic_store(&r->buffer[0], 5); atomic_store(&r->buffer[1], -6); return 0; }
int main(void) {
    r = malloc(sizeof *r + 4 * sizeof(int)); r->size = 4; 
    atomic_init(&r->buffer[0], 0); atomic_init(&r->buffer[1], 0);
    pthread_t t; pthread_create(&t, 0, w, 0);
    int a = atomic_load(&r->buffer[1]); int b = atomic_load(&r->buffer[0]);
    assert(!(a == -6 && b == 5));
    pthread_join(t, 0); free(r);
}
