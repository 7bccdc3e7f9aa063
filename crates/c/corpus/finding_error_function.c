/*
 * A call of the error function of the verifier vocabulary.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * why: The call is reached.
 */
extern void reach_error(void);

int main(void) {
    reach_error();
    return 0;
}
