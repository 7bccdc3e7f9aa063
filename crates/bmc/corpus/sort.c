/*
 * Two threads sort halves of an array of any numbers, the first one merges: the result is sorted.
 * expect: safe
 */
#include <pthread.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

static int a[4], sorted[4];

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
    for (int i = 0; i < 4; i++)
        a[i] = __VERIFIER_nondet_int();
    pthread_create(&t[0], 0, sort_pair, (void *)0);
    pthread_create(&t[1], 0, sort_pair, (void *)2);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    int i = 0, j = 2;
    for (int k = 0; k < 4; k++) {
        if (j == 4 || (i < 2 && a[i] <= a[j]))
            sorted[k] = a[i++];
        else
            sorted[k] = a[j++];
    }
    for (int k = 0; k < 3; k++)
        assert(sorted[k] <= sorted[k + 1]);
    return 0;
}
