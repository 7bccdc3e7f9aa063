/* Quotient and remainder at once. */
#include <stdlib.h>
div_t div(int a, int b) { return (div_t){ a / b, a % b }; }
ldiv_t ldiv(long a, long b) { return (ldiv_t){ a / b, a % b }; }
