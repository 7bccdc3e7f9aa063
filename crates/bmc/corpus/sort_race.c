/*
 * Two threads sort overlapping parts of an array without a lock: numbers are lost.
 * expect: unsafe
 */
#include <pthread.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

static int a[3];

static void *sort_pair(void *arg) {
    int at = (int)(long)arg;
    if (a[at] > a[at + 1]) {
        int t = a[at];
        a[at] = a[at + 1];
        a[at + 1] = t;
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        a[i] = __VERIFIER_nondet_int();
        sum ^= a[i];
    }
    pthread_create(&t[0], 0, sort_pair, (void *)0);
    pthread_create(&t[1], 0, sort_pair, (void *)1);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    assert((a[0] ^ a[1] ^ a[2]) == sum);
    return 0;
}
