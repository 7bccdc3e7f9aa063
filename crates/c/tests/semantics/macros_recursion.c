#define f(a) a * g
#define g(a) f(a)
#define h(x, y) x + y
#define ARGS 1, 2
#define CALL(m, ...) m(__VA_ARGS__)
#define EACH(M) M(1) M(2) M(3)
#define ADD(n) + n
#define COMMA ,
#define LPAREN (
#define P(x) (x)
#define HASH(x) #x
#define EVAL(x) x
void run(void) { int z[1] = {3};
#define z z[0]
    OUT(z); int g = 5; OUT(f(2)); OUT(CALL(h, ARGS)); OUT(0 EACH(ADD)); OUT(sizeof(HASH(a COMMA b))); OUT(P(4)); OUT(EVAL(EVAL(6))); OUT(HASH( a   b )[1]); OUT(sizeof HASH()); }
