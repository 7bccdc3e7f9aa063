#include <stdatomic.h>
#include <stdint.h>
#include <assert.h>
struct pair { uint64_t lo, hi; };
static union { _Atomic struct pair p; struct pair s; } u;
int main(void) { struct pair v = { 1, 2 }; atomic_store(&u.p, v); assert(u.s.lo == 1); return 0; }
