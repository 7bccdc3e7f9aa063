/*
 * A call through a null function pointer.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * why: The pointer is never set.
 */
static int (*handler)(int);

int main(void) {
    return handler(3);
}
