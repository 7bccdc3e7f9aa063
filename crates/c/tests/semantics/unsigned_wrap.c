void run(void) {
    unsigned a = 4000000000u, b = 1000000000u; unsigned long l = -1;
    OUT(a + b); OUT(b - a); OUT(a * 3); OUT(0u - 1); OUT(l + 2); OUT((unsigned char)300); OUT((signed char)200);
    unsigned char x = 255; x++; OUT(x); x--; OUT(x); unsigned short y = 0; y--; OUT(y);
    int i = 2147483647; i += 1; OUT(i);
}
