static int f(int x) { switch (x) { case 1: return 10; case 2: case 3: x += 5; default: x++; break; case 7: { int y = 3; x = y; } case 8: x *= 2; } return x; }
static int h(unsigned char c) { switch (c) { case 'a' ... 'f': return 1; case 200: return 2; } return 3; }
static int g(long v) { switch (v) { int dead; case 1L << 40: dead = 4; return dead; default: return 5; case -1: return 6; } }
void run(void) { for (int i = 0; i < 10; i++) OUT(f(i)); OUT(h('c')); OUT(h(200)); OUT(h(7)); OUT(g(1L << 40)); OUT(g(0)); OUT(g(-1));
    int n = 0; for (int i = 0; i < 10; i++) { switch (i % 3) { case 0: continue; case 1: n += 1; break; default: n += 10; } n += 100; } OUT(n);
    int count = 9, to = 0, k = (count + 3) / 4; switch (count % 4) { case 0: do { to++; case 3: to++; case 2: to++; case 1: to++; } while (--k > 0); } OUT(to); }
