/*
 * Memory is read after it was freed.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The read follows the free in program order.
 */
#include <stdlib.h>

int main(void) {
    int *p = malloc(sizeof *p);
    *p = 1;
    free(p);
    return *p;
}
