/*
 * One object is accessed with two sizes.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 power=0 armv8=0
 * why: The union is written as a whole and read by byte, which no model here defines.
 */
union u {
    int word;
    char bytes[4];
};
union u g;

int main(void) {
    g.word = 0x01020304;
    return g.bytes[0];
}
