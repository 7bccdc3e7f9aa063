// Two cells are read until neither has changed; each try goes on with what the last one read.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;

void *writer(void *unused) {
    for (int i = 1; i <= 2; i++) {
        atomic_store(&x, i);
        atomic_store(&y, i);
    }
    return unused;
}

void *reader(void *unused) {
    int a = atomic_load(&x), b = atomic_load(&y);
    for (;;) {
        int c = atomic_load(&x), d = atomic_load(&y);
        if (a == c && b == d) break;
        a = c;
        b = d;
    }
    assert(a >= b && a <= b + 1);
    return unused;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
