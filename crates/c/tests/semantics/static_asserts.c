#include <assert.h>
#include <stdint.h>
#include <limits.h>
_Static_assert(sizeof(int) == 4, "int"); static_assert(sizeof(uintptr_t) == sizeof(void *), "pointers"); enum { K = 3 }; _Static_assert(K * 2 == 6 && INT_MAX > 0, "k");
struct s { int a; _Static_assert(1, "in a struct"); int b; };
void run(void) { _Static_assert(sizeof(struct s) == 8, "s"); OUT(sizeof(struct s)); assert(1); OUT(INT_MAX); OUT(UINT_MAX); OUT(LONG_MIN); OUT(CHAR_MIN); OUT(UINT8_MAX); OUT(INT64_C(5)); OUT(SIZE_MAX == ULONG_MAX); int8_t i = -1; uint8_t u = i; OUT(u); int_fast16_t f = 3; OUT(sizeof f); OUT(sizeof(intmax_t)); OUT(USHRT_MAX + 1); OUT(INT16_MIN); }
