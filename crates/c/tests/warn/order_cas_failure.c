#include <stdatomic.h>
atomic_int x;
int main(void) {
    int e = 0;
    return atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_acq_rel, memory_order_release);
}
