/*
 * A local variable is read after its block ended.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
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
