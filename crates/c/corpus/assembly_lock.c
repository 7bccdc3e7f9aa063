/*
 * A counter and a lock in the assembly of AArch64, or of POWER where that is compiled for: exclusives and reservations.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=4 tso=4 pso=4 ra=4 rc11=4 rc20=4 power=4 armv8=4
 * why: Additions are atomic, the lock acquires (POWER: by a branch and isync) and releases.
 */
#include <assert.h>
#include <pthread.h>
static unsigned counter, lockword; static int data;
#if defined(__powerpc64__)
static unsigned add(unsigned *p, unsigned n) {
    unsigned old, new;
    __asm__ volatile("1: lwarx %0,0,%3\n\tadd %1,%0,%2\n\tstwcx. %1,0,%3\n\tbne- 1b"
        : "=&r"(old), "=&r"(new) : "r"(n), "r"(p) : "memory", "cc");
    return old;
}
static void lock(unsigned *p) {
    unsigned tmp;
    __asm__ volatile("1: lwarx %0,0,%1\n cmpwi 0,%0,0\n bne- 1b\n stwcx. %2,0,%1\n bne- 1b\n isync"
        : "=&r"(tmp) : "r"(p), "r"(1) : "memory", "cr0");
}
static void unlock(unsigned *p) {
#ifndef RELAXED
    __asm__ volatile("lwsync" ::: "memory");
#endif
    __asm__ volatile("stw%U0%X0 %1,%0" : "=m"(*p) : "r"(0) : "memory");
}
#else
static unsigned add(unsigned *p, unsigned n) {
    unsigned old, new, failed;
    __asm__ volatile("1: ldxr %w0, [%3]\n\tadd %w1, %w0, %w4\n\tstxr %w2, %w1, [%3]\n\tcbnz %w2, 1b"
        : "=&r"(old), "=&r"(new), "=&r"(failed) : "r"(p), "r"(n) : "memory", "cc");
    return old;
}
static void lock(unsigned *p) {
    unsigned tmp;
    __asm__ volatile("1: ldaxr %w0, %1\n cbnz %w0, 1b\n stxr %w0, %w2, %1\n cbnz %w0, 1b"
        : "=&r"(tmp), "+Q"(*p) : "r"(1) : "memory");
}
static void unlock(unsigned *p) {
#ifdef RELAXED
    __asm__ volatile("str %w1, %0" : "=Q"(*p) : "r"(0) : "memory");
#else
    __asm__ volatile("stlr %w1, %0" : "=Q"(*p) : "r"(0) : "memory");
#endif
}
#endif
static void *worker(void *arg) {
    add(&counter, 2);
    lock(&lockword); data++; unlock(&lockword);
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(counter == 4 && data == 2);
}
