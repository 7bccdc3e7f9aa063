/*
 * A local variable is freed.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * why: It did not come from malloc.
 */
#include <stdlib.h>

int main(void) {
    int x = 1;
    free(&x);
    return 0;
}
