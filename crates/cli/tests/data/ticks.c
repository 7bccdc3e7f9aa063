#include <assert.h>
#include <stdint.h>

#ifdef __x86_64__
static inline uint64_t ticks(void) {
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
static inline uint64_t ticks(void) {
    uint64_t now;
    __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(now));
    return now;
}
#else
static inline uint64_t ticks(void) {
    uint64_t now;
    __asm__ __volatile__("mftb %0" : "=r"(now));
    return now;
}
#endif

int main(void) {
    uint64_t first = ticks(), second = ticks();
    assert(second >= first);
#ifdef STRICT
    assert(second > first);
#endif
    return 0;
}
