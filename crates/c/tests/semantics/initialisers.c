struct p { int x, y; }; struct l { struct p a, b; int c[3]; };
int g[5] = {1, 2, [4] = 9}; struct l gl = {.b = {3, 4}, .c[1] = 8}; struct p gp[] = {{1, 2}, {3}, 5, 6}; char s[] = "hey"; char t[3] = "abc"; char w[5] = "a";
int m[2][3] = {{1}, {2, 3}}; int f[] = {[3] = 1, 2}; int *ptr = &g[4]; struct p *pp = &gp[2]; const char *str = "text" + 1;
void run(void) {
    int i; for (i = 0; i < 5; i++) OUT(g[i]); OUT(gl.a.x); OUT(gl.b.y); OUT(gl.c[1]); OUT(sizeof gp / sizeof *gp); OUT(gp[2].x); OUT(gp[2].y); OUT(gp[1].y);
    OUT(sizeof s); OUT(s[2]); OUT(t[2]); OUT(w[0]); OUT(w[4]); OUT(m[1][1]); OUT(m[0][2]); OUT(sizeof f); OUT(f[4]); OUT(*ptr); OUT(pp->y); OUT(*str);
    int loc[4] = {7}; OUT(loc[0] + loc[3]); struct l ll = {{1, 2}, .c = {4, 5}}; OUT(ll.a.y); OUT(ll.b.x); OUT(ll.c[1]); struct p q = gp[0]; OUT(q.y); char z[] = {"xyz"}; OUT(sizeof z + z[1]);
    int r[6] = {[1 ... 3] = 5}; OUT(r[0] + r[1] * 10 + r[3] * 100 + r[4]); struct l e = {1, 2, 3, 4, 5, 6, 7}; OUT(e.c[2]);
}
