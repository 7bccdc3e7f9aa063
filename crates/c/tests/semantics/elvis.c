static int calls; static int f(int x) { calls++; return x; }
void run(void) { OUT(f(3) ?: 9); OUT(f(0) ?: 9); OUT(calls); char *p = 0; char b[2] = "x"; OUT(*(p ?: b)); OUT(1 ? 2 : 3 ? 4 : 5); OUT(0 ? 2 : 0 ? 4 : 5); OUT((1 ? -1 : 0u) > 0); OUT(sizeof(1 ? 1 : 1L)); int x = 1, y = 2; *(x ? &x : &y) = 7; OUT(x); (void)(x ? f(1) : f(2)); OUT(calls); OUT(__builtin_expect(5, 1)); }
