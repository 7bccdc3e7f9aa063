/*
 * A local array of constant characters is cleared.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: C leaves the write undefined (6.7.3).
 */
#include <string.h>

static void clear(char *p) {
    memset(p, 0, 4);
}

int main(void) {
    const char name[4] = "abc";
    clear((char *)name);
    return name[0];
}
