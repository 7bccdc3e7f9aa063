static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; }
typedef int (*op)(int, int); static op ops[] = {add, sub, &add}; static op choose(int i) { return ops[i]; }
static int apply(int f(int, int), int x) { return f(x, 2); } struct v { op call; }; static int (*(*deep)(int))(int, int) = choose;
void run(void) {
    OUT(ops[1](5, 3)); OUT(choose(0)(4, 4)); OUT(apply(sub, 9)); OUT((*ops[2])(1, 1)); struct v v = {sub}; OUT(v.call(1, 2)); OUT(deep(1)(8, 1));
    op p = 0; OUT(p == 0); p = add; OUT(p == ops[0]); OUT(p != sub); OUT((p ? p : sub)(2, 2)); OUT((****add)(3, 4)); OUT(sizeof(op)); op q[2] = {add, 0}; OUT(!q[1]);
}
