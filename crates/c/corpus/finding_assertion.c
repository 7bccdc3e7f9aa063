/*
 * A failed assertion.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The assertion is false in the only execution.
 */
#include <assert.h>

int main(void) {
    int x = 2;
    assert(x * x == 5);
    return 0;
}
