#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
struct p { int x, y; };
void run(void) { OUT(MAX(3, 4)); int n = 1; OUT(MAX(n++, 0)); OUT(n); OUT(({ int t = 0; for (int i = 0; i < 4; i++) t += i; t; })); OUT(MAX(MAX(1, 5), MAX(2, 3))); int z = ({ if (n) n = 7; n; }) + 1; OUT(z); OUT(({ struct p q = {1, 2}; q; }).y); struct p r = ({ struct p q = {3, 4}; q.x++; q; }); OUT(r.x); ({ n = 9; }); OUT(n); OUT(({ int a[2] = {4, 5}; a[0] * a[1]; })); }
