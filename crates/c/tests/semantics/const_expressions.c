#define BIT(n) (1u << (n))
enum { A = sizeof(int) * 2, B = (A > 4) ? 'b' : 'c', C = ~0 & 0xff, D = -5 / 2, E = (char)300, F = !0 + !!7, G = (int)3.7 };
static int arr[(A + 1) * 2 - 3]; static char big[BIT(4)]; static int v = A * B + (C ^ 1); static double d = 1 + 2.5 * 2; static unsigned long ul = -1; static int *pa = arr + 2; static long df = &arr[5] - &arr[1]; static int eq = &arr[1] == arr + 1;
void run(void) { OUT(A); OUT(B); OUT(C); OUT(D); OUT(E); OUT(F); OUT(G); OUT(sizeof arr); OUT(sizeof big); OUT(v); OUT(d * 2); OUT(ul); OUT(pa - arr); OUT(df); OUT(eq); switch (13) { case A + 5: OUT(1); } int loc[sizeof(long) == 8 ? 3 : -1]; OUT(sizeof loc); }
