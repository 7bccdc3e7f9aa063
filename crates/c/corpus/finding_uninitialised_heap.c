/*
 * Heap memory is read before it is written.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 power=1 armv8=1
 * why: malloc does not initialise.
 */
#include <stdlib.h>

int main(void) {
    int *p = malloc(2 * sizeof *p);
    p[0] = 1;
    int x = p[1];
    free(p);
    return x;
}
