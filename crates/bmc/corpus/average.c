/*
 * The mean of two numbers of any value without overflow, one thread for each of two ways: they agree.
 * expect: safe
 */
#include <pthread.h>
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned x, y, one, other;

static void *by_half(void *arg) {
    one = x / 2 + y / 2 + (x & y & 1);
    return 0;
}

static void *by_bits(void *arg) {
    other = (x & y) + ((x ^ y) >> 1);
    return 0;
}

int main(void) {
    pthread_t a, b;
    x = __VERIFIER_nondet_uint();
    y = __VERIFIER_nondet_uint();
    pthread_create(&a, 0, by_half, 0);
    pthread_create(&b, 0, by_bits, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(one == other);
    return 0;
}
