void run(void) {
    int s = 0; for (int i = 0, j = 10; i < j; i++, j--) s += i * j; OUT(s); int k = 5; while (k-- > 0) if (k == 2) continue; else s += k; OUT(s); OUT(k);
    do { s++; if (s % 7 == 0) break; } while (1); OUT(s); for (;;) { if (s++ > 100) break; } OUT(s); int z = 0; do z++; while (z < 3); OUT(z); while (0) OUT(9);
    for (unsigned u = 3; u < 4; u--) z += u; OUT(z);
}
