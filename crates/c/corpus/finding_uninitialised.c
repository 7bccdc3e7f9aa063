/*
 * A local variable is read before it is written.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 power=1 armv8=1
 * why: The condition is false, so nothing was written.
 */
int main(void) {
    int x, y = 0;
    if (y)
        x = 1;
    return x;
}
