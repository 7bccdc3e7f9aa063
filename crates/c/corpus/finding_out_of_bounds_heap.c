/*
 * An access before the start of a heap object.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The index is negative.
 */
#include <stdlib.h>

int main(void) {
    int *p = malloc(2 * sizeof *p);
    p[0] = 1;
    int *q = p - 1;
    *q = 2;
    free(p);
    return 0;
}
