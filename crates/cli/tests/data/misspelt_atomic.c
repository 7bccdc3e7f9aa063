#include <stdatomic.h>
atomic_int x;
int main(void) { atomic_stor(&x, 1); atomic_store_explicit(&x, 1, memory_order_relase); return atomic_lod(&x); }
