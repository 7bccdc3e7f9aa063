/*
 * Two plain words that threads exchange at once, and main reads one by one when they have ended.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: A compare-exchange that fails tells what was there, so that both exchanges count.
 */
#include <stdint.h>
#include <assert.h>
#include <pthread.h>
struct words { uint64_t low, high; };
static struct words shared;
static void *worker(void *arg) {
    struct words old = { 0, 0 }, next = { 1, 2 };
    while (!__atomic_compare_exchange(&shared, &old, &next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { next.low = old.low + 1; next.high = old.high + 2; }
    return 0;
}
int main(void) {
    pthread_t t[2];
    shared.low = 0;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(shared.low == 2 && shared.high == 4);
}
