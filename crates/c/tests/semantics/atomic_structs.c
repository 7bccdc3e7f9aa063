#include <stdatomic.h>
struct tp { unsigned idx, tag; }; static _Atomic struct tp top; struct small { short a; char b; };
void run(void) { struct tp t = atomic_load(&top); OUT(t.idx); struct tp n = {3, 4}; atomic_store(&top, n); t = top; OUT(t.idx); OUT(t.tag); struct tp e = {0, 0}; OUT(atomic_compare_exchange_strong(&top, &e, ((struct tp){5, 6}))); OUT(e.tag); OUT(atomic_compare_exchange_strong(&top, &e, ((struct tp){5, e.tag + 1}))); OUT(atomic_load(&top).tag); n.idx = 9; top = n; t = atomic_exchange(&top, e); OUT(t.idx); OUT(sizeof top); }
