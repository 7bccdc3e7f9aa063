/*
 * A half of two words that another thread exchanges at once is read beside that.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Accesses of different sizes, and nothing orders them.
 */
#include <stdint.h>
#include <assert.h>
#include <pthread.h>
struct words { uint64_t low, high; };
static struct words shared;
static void *worker(void *arg) {
    struct words old = { 0, 0 }, next = { 1, 2 };
    __atomic_compare_exchange(&shared, &old, &next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    uint64_t a = shared.low;
    pthread_join(t, 0);
    assert(a <= 1);
}
