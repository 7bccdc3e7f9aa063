/*
 * Choices and assumptions of the verifier vocabulary.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The assumption leaves only values that satisfy the assertion.
 */
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);

int main(void) {
    _Bool a = __VERIFIER_nondet_bool(), b = __VERIFIER_nondet_bool();
    __VERIFIER_assume(a != b);
    assert(a + b == 1);
    return 0;
}
