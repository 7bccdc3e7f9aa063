/*
 * A pointer into the middle of an object is freed.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: Only the start of what malloc gave can be freed.
 */
#include <stdlib.h>

int main(void) {
    int *p = malloc(2 * sizeof *p);
    free(p + 1);
    return 0;
}
