/*
 * A null pointer is dereferenced.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * why: The pointer is null on the only path.
 */
struct s {
    int a, b;
};

int main(void) {
    struct s *p = 0;
    return p->b;
}
