/*
 * A call of the error function of the verifier vocabulary.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The call is reached.
 */
extern void reach_error(void);

int main(void) {
    reach_error();
    return 0;
}
