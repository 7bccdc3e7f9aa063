// check: -m sc --engine explore
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x, y;

static void *both(void *unused) {
    __VERIFIER_atomic_begin();
    atomic_store(&x, 1);
    atomic_store(&y, 1);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    int a, b;
    pthread_create(&thread, 0, both, 0);
#ifdef MENDED
    __VERIFIER_atomic_begin();
    a = atomic_load(&x);
    b = atomic_load(&y);
    __VERIFIER_atomic_end();
#else
    a = atomic_load(&x);
    b = atomic_load(&y);
#endif
    pthread_join(thread, 0);
    return a == 1 && b == 0;
}
