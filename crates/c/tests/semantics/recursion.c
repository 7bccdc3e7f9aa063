static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
static int odd(int n); static int even(int n) { return n == 0 ? 1 : odd(n - 1); } static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int sum(int *a, int n) { return n ? *a + sum(a + 1, n - 1) : 0; } static int depth(int n) { int local[2] = {n, n}; return n ? local[0] + depth(n - 1) + local[1] : 0; }
static int ack(int m, int n) { return !m ? n + 1 : !n ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
void run(void) { OUT(fib(12)); OUT(gcd(48, 36)); OUT(even(9)); OUT(odd(9)); int a[4] = {1, 2, 3, 4}; OUT(sum(a, 4)); OUT(depth(5)); OUT(ack(2, 2)); }
