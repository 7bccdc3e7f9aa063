_Thread_local int t = 3; static __thread int u; static _Thread_local struct { int a[2]; } s = {{1, 2}};
static int f(void) { static _Thread_local int n = 1; return n++; }
void run(void) { t++; OUT(t); u = 4; OUT(u); s.a[1] = 9; OUT(s.a[1] + s.a[0]); OUT(f()); OUT(f()); int *p = &t; *p = 8; OUT(t); }
