#include <stdatomic.h>
atomic_int x;
int get(memory_order o) { return atomic_load_explicit(&x, o); }
int main(void) { return get(memory_order_relaxed); }
