/*
 * A local variable is read after its block ended.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 power=1 armv8=1
 * why: The pointer outlives the block.
 */
int main(void) {
    int *p;
    {
        int x = 3;
        p = &x;
    }
    return *p;
}
