/*
 * A static object that is declared const is written through a cast.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: Constants may lie in memory that cannot be written.
 */
static const int limit = 3;

static void widen(int *bound) { *bound = 4; }

int main(void)
{
    widen((int *)&limit);
    return 0;
}
