#include <assert.h>
#include <stdint.h>

struct words {
    uint64_t low, high;
};

static struct words shared;

int main(void) {
    struct words old = { 0, 0 }, next = { 1, 0 };
    __atomic_compare_exchange(&shared, &old, &next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    shared.high = 2;
    assert(shared.low == 1 && shared.high == 0);
    return 0;
}
