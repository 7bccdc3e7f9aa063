/*
 * An access through a number that is no pointer.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: No object has this address; where objects lie is not known to the program.
 */
#include <stdint.h>

int main(void) {
    int *p = (int *)(uintptr_t)0x12345678;
    *p = 1;
    return 0;
}
