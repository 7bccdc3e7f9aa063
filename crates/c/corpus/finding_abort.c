/*
 * A call of abort.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * why: The call is reached.
 */
#include <stdlib.h>

int main(void) {
    abort();
}
