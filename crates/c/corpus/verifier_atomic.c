/*
 * The atomic sections of the verifier vocabulary.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=6 tso=6 pso=6 ra=6 rc11=6 rc20=6 power=6 armv8=6
 * why: Nothing comes between the beginning and the end of a section.
 */
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

static int n;

static void __VERIFIER_atomic_add(int k) { n += k; }

static void *worker(void *arg) {
    __VERIFIER_atomic_begin();
    int seen = n;
    n = seen + 1;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_add(2);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, worker, 0);
    pthread_create(&t[1], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    if (n != 6)
        reach_error();
    return 0;
}
