#include <stdatomic.h>
#include <stdint.h>
#include <assert.h>
struct pair { uint64_t lo, hi; };
static _Atomic struct pair p;
int main(void) { struct pair v = { 1, 2 }; atomic_store(&p, v); uint64_t lo = *(volatile uint64_t *)&p; assert(lo == 1); return 0; }
