#include <stdint.h>

struct words {
    uint64_t low, high;
};

static struct words shared;

int main(void) {
    struct words next = { 1, 2 };
    __atomic_store(&shared, &next, __ATOMIC_RELEASE);
    return 0;
}
