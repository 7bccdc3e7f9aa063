typedef int byte __attribute__((mode(QI)));
typedef unsigned ubyte __attribute__((__mode__(__QI__)));
typedef int half __attribute__((mode(HI)));
typedef unsigned word __attribute__((mode(word)));
typedef int register_type __attribute__((__mode__(__word__)));
typedef unsigned single __attribute__((mode(SI)));
typedef float wide __attribute__((mode(DF)));
struct with_long_double { char c; long double x; int y; };
void run(void) {
    byte b = 200;
    ubyte u = 200;
    half h = 70000;
    word w = -1;
    register_type r = -1;
    unsigned local __attribute__((mode(HI))) = 65537;
    struct with_long_double one = {1, .y = 3}, two;
    two = one;
    OUT(sizeof(byte)); OUT(sizeof(half)); OUT(sizeof(word)); OUT(sizeof(single)); OUT(sizeof(wide));
    OUT(b); OUT(u); OUT(h); OUT(w == 0xffffffffffffffffUL); OUT(r < 0); OUT(local);
    OUT(sizeof(struct with_long_double)); OUT(two.c + two.y);
}
