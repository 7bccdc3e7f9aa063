/*
 * A null pointer is dereferenced.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The pointer is null on the only path.
 */
struct s {
    int a, b;
};

int main(void) {
    struct s *p = 0;
    return p->b;
}
