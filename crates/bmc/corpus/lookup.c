/*
 * An index of any value into an array, checked against a limit that another thread may raise.
 * expect: unsafe
 */
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

static int table[4];
static atomic_uint limit = 4;

static void *grow(void *arg) {
    atomic_store(&limit, 5);
    return 0;
}

static void *use(void *arg) {
    unsigned index = __VERIFIER_nondet_uint();
    if (index < atomic_load(&limit))
        table[index]++;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, grow, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
