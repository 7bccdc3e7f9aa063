struct b { unsigned a : 3, b : 5; int c : 4; unsigned d : 20; }; struct m { unsigned x : 30; unsigned y : 4; }; struct z { int a : 3; int : 0; int b : 3; };
struct g { char c; unsigned f : 8; unsigned h : 16; };
void run(void) {
    struct b v = {0}; v.a = 9; v.b = 33; v.c = 9; v.d = 1 << 19; OUT(v.a); OUT(v.b); OUT(v.c); OUT(v.d); v.c = -3; OUT(v.c); v.a++; OUT(v.a);
    v.c += 10; OUT(v.c); OUT(sizeof(struct b)); OUT(sizeof(struct m)); OUT(sizeof(struct z)); struct m m = {.x = ~0u, .y = 15}; OUT(m.x); OUT(m.y);
    OUT(v.a - 5 < 0); OUT((v.c = 7)); struct g g = {1, 2, 3}; OUT(g.c + g.f + g.h); OUT(sizeof g); static struct b s = {1, 2, -1, 7}; OUT(s.a + s.b * 10 + s.c * 100 + s.d * 1000);
    OUT(v.d == 1u << 19); _Bool x = v.b; OUT(x); struct b w = v; OUT(w.b); unsigned long t = m.x; OUT(t);
}
