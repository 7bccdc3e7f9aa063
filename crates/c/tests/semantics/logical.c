static int n; static int t(int v) { n++; return v; }
void run(void) { OUT(t(0) && t(1)); OUT(n); OUT(t(1) || t(1)); OUT(n); OUT(t(1) && t(2) && t(0)); OUT(n); OUT(!(t(1) && !t(0))); OUT((t(0) || t(3)) + 4); if (t(1) && (t(0) || t(1))) OUT(n); int *p = 0; OUT(p && *p); OUT(!p || *p); OUT(2 && 3); OUT(0.5 && 1); OUT(n); OUT((t(1), t(5))); while (t(0) || n < 20) ; OUT(n); }
