/*
 * A local variable is read before it is written.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The condition is false, so nothing was written.
 */
int main(void) {
    int x, y = 0;
    if (y)
        x = 1;
    return x;
}
