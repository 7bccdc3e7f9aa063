enum color { RED, GREEN = 5, BLUE }; enum { NEG = -2, NEXT, BIG = 1 << 10 }; enum flags { A = 1, B = A << 1, C = A | B };
typedef enum { X = 'x' } xs; static enum color next(enum color c) { return c == BLUE ? RED : c + 1; }
void run(void) { OUT(RED); OUT(BLUE); OUT(NEXT); OUT(BIG); OUT(C); enum color c = GREEN; OUT(next(c)); OUT(next(BLUE)); OUT(sizeof c); xs x = X; OUT(x); int a[BLUE]; OUT(sizeof a / sizeof *a); switch (c) { case RED: OUT(1); break; case GREEN: OUT(2); } enum color k = -1; OUT(k > 0); enum { IN = 3 }; { enum { IN = 4 }; OUT(IN); } OUT(IN); }
