#define KIND(x) _Generic((x), int: 1, unsigned: 2, long: 3, char *: 4, const char *: 5, double: 6, float: 7, char: 8, default: 9)
struct s { int a; };
void run(void) { OUT(KIND(1)); OUT(KIND(1u)); OUT(KIND(1l)); char a[3]; OUT(KIND(a)); OUT(KIND("x")); OUT(KIND(1.0)); OUT(KIND(1.f)); char c = 1; OUT(KIND(c)); OUT(KIND((short)1)); OUT(KIND(c + c));
    const int k = 3; OUT(KIND(k)); struct s s; OUT(KIND(s)); OUT(KIND((const char *)0)); OUT(_Generic(run, void (*)(void): 1, default: 2)); OUT(KIND('a')); OUT(KIND(1ull)); }
