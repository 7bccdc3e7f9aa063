/*
 * Two threads sum halves of a message of any bytes; the sum of the halves is that of the whole.
 * expect: safe
 */
#include <pthread.h>
#include <assert.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

#define SIZE 8
static unsigned char message[SIZE];
static unsigned low, high;

static unsigned sum(int from, int to) {
    unsigned total = 0;
    for (int i = from; i < to; i++)
        total += message[i];
    return total;
}

static void *first(void *arg) {
    low = sum(0, SIZE / 2);
    return 0;
}

static void *second(void *arg) {
    high = sum(SIZE / 2, SIZE);
    return 0;
}

int main(void) {
    pthread_t a, b;
    for (int i = 0; i < SIZE; i++)
        message[i] = __VERIFIER_nondet_uchar();
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(low + high == sum(0, SIZE));
    assert(low + high <= 255 * SIZE);
    return 0;
}
