#include <stdatomic.h>
#include <stdint.h>

struct words {
    uint64_t low, high;
};

static _Atomic struct words shared;

int main(void) {
    struct words large = { 1ull << 40, 2 };
    atomic_store(&shared, large);
    return 0;
}
