/*
 * One object is accessed with two sizes.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
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
