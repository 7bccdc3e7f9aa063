#define STR_(...) #__VA_ARGS__
#define STR(...) STR_(__VA_ARGS__)
#define n 3
#define two(a) twice(n * (a))
#define undone(a) two
#define pass(a) a(w)
#define w 0, 1
#define self(x) x + self(x)
#define pair(x, y) x ## y + # y
#define glue(x, y) x ## y
#define late glue(o, ne)
#define one 1
#define nothing
#define opt(a, ...) a(__VA_ARGS__)
#define named(args...) [args]
#define maybe(fmt, ...) fmt , ##__VA_ARGS__ ;
#define empty()
#define chain(x) first x second
#define second (2)
#define first chain
#define hash(x) # x
#define keep(x) x x
static long sum(const char *s) { long h = 7; while (*s) { h = h * 31 + *s; s++; } return h; }
#define SHOW(...) OUT(sum(STR(__VA_ARGS__)))
void run(void) {
    SHOW(two(y + 1) + two(two)(n)); SHOW(undone(1)(2)); SHOW(pass(n)); SHOW(self(self(1))); SHOW(pair(a, b)); SHOW(pair(, b)); SHOW(pair(a, ));
    SHOW(glue(n, 4)); SHOW(late); SHOW(opt(f)); SHOW(opt(f, 1, 2)); SHOW(named(1, (2, 3), 4)); SHOW(named()); SHOW(maybe(a)); SHOW(maybe(a, b, c));
    SHOW(empty() x empty()); SHOW(chain(n)); SHOW(keep(n) keep(keep)(n)); SHOW(hash("a\n" 'b' "\"") ); SHOW( spaced   out	text ); SHOW(nothing + nothing);
    SHOW(glue(, )); SHOW(- -n); SHOW(+glue(+, )n); SHOW(n.n e+n 0x1.8p+3 1.e-4f); SHOW(a/**/b /* c */ d);
    OUT(sum(hash(  p  +
    q  ))); OUT(sum(hash(@ ` ))); OUT(sum(STR(__LINE__) ) - sum(STR(__LINE__)));
}
