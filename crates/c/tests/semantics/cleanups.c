static int order;
static void note(int *n) { order = order * 10 + *n; }
static void put(int **p) { **p += 100; *p = 0; }
#define GUARD(name, n) __attribute__((cleanup(note))) int name = n
static int plain(void) { GUARD(a, 1); GUARD(b, 2); { GUARD(c, 3); } return a + b; }
static int early(int when) {
    GUARD(a, 1);
    if (when == 0)
        return 7;
    GUARD(b, 2);
    if (when == 1)
        return b;
    int c __attribute__((cleanup(note))) = 3;
    return c + when;
}
static void loops(void) {
    for (int i = 0; i < 3; i++) {
        GUARD(a, 4);
        if (i == 1)
            continue;
        GUARD(b, 5);
        if (i == 2)
            break;
    }
}
static void jumps(int back) {
    int n = 0;
again:;
    GUARD(a, 6);
    if (n++ < back)
        goto again;
    {
        GUARD(b, 7);
        if (back == 1)
            goto out;
        GUARD(c, 8);
    }
out:;
}
static int value(void) {
    int x = 5;
    __attribute__((cleanup(put))) int *p = &x;
    return x;
}
void run(void) {
    OUT(plain()); OUT(order); order = 0;
    OUT(early(0)); OUT(order); order = 0;
    OUT(early(1)); OUT(order); order = 0;
    OUT(early(2)); OUT(order); order = 0;
    loops(); OUT(order); order = 0;
    jumps(0); OUT(order); order = 0;
    jumps(1); OUT(order); order = 0;
    jumps(2); OUT(order);
    OUT(value());
    OUT(({ GUARD(a, 9); 4; })); OUT(order);
}
