#define SQ(x) ((x) * (x))
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
#define STR(x) #x
#define XSTR(x) STR(x)
#define N 4
#define V(...) (0, __VA_ARGS__)
#define F(fmt, args...) g(fmt, ##args)
#define EMPTY
#define FN(x) x
#define CALL FN
#define OBJ (2)
#define COUNT(...) COUNT_(__VA_ARGS__, 3, 2, 1)
#define COUNT_(a, b, c, n, ...) n
static int g(const char *s, ...) { return s[0]; }
static int SELF = 40;
#define SELF SELF + 1
void run(void) { OUT(SQ(1 + 2)); OUT(SELF); int CAT(ab, c) = 3; OUT(abc); int XCAT(v, N) = 5; OUT(v4); OUT(sizeof(STR(a b))); OUT(XSTR(N)[0]); OUT(STR(N)[0]); OUT(V(1, 2, 3)); OUT(F("q")); OUT(F("r", 1, 2)); OUT(CALL(7)); OUT(FN OBJ); OUT(COUNT(a, b)); OUT(COUNT(a)); OUT(EMPTY 6 EMPTY); OUT(SQ(SQ(2))); OUT(sizeof(STR("x\n"))); OUT(CAT(1, 2)); OUT(__LINE__ - __LINE__);
#if N > 3 && defined(SQ) && !defined(NOPE) || 0
    OUT(1);
#else
    OUT(2);
#endif
#if (N << 2) == 16 ? 0 : 1
    OUT(3);
#elif N == 4
    OUT(4);
#endif
#ifdef NOPE
#error no
#elif -1 > 0u
    OUT(5);
#endif
#ifndef NOPE
    OUT(6);
#endif
}
