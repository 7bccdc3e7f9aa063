void run(void) {
    int i = -1; unsigned u = 1; long l = -1; OUT(i < u); OUT(l < u); OUT(i < (int)u); OUT(i == 0xffffffffu);
    OUT(l == 0xffffffffu); OUT(!5); OUT(!!5); OUT(3 > 2 > 1); OUT((3 > 2) == 1); OUT('a' < 'b');
    char c = 'x'; OUT(c == 120); OUT(c != 120); OUT(-1 < 0u);
}
