/*
 * Two words that x86's double-width compare-exchange changes at once.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: As `sizes_words_exchanged.c`.
 */
#include <stdint.h>
#include <assert.h>
#include <stdbool.h>
#include <pthread.h>
struct words { uint64_t low, high; } __attribute__((aligned(16)));
static struct words shared;
static bool cas2(struct words *target, struct words *compare, struct words *set) {
    bool z;
    __asm__ __volatile__("lock cmpxchg16b %0; setz %1;"
        : "+m"(*target), "=q"(z), "+a"(compare->low), "+d"(compare->high)
        : "b"(set->low), "c"(set->high)
        : "memory", "cc");
    return z;
}
static void *worker(void *arg) {
    struct words old = { 0, 0 }, next;
    do { next.low = old.low + 1; next.high = old.high + 2; } while (!cas2(&shared, &old, &next));
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(shared.low == 2 && shared.high == 4);
}
