// check: -m sc
#include <stdatomic.h>
#include <stdint.h>

static int value = 1;
static atomic_uintptr_t tagged;

int main(void) {
    atomic_store(&tagged, (uintptr_t)&value << 16 | 1);
#ifdef MENDED
    int *p = (int *)(atomic_load(&tagged) >> 16);
#else
    int *p = (int *)atomic_load(&tagged);
#endif
    return *p == 2;
}
