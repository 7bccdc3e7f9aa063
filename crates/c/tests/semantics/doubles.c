void run(void) {
    double d = 1.5, e = -2.25; float f = 0.1f; OUT(d > e); OUT(d * 4); OUT(e * -4); OUT(d + e == -0.75); OUT((int)e); OUT(f == 0.1);
    OUT((float)0.1 == f); OUT(d != d); OUT(!d); OUT(d ? 1 : 2); OUT((long)1e10); OUT((unsigned char)(d * 100)); double n = 7; n /= 2; OUT(n * 10);
    n++; OUT(n * 2); float g = 16777217; OUT(g); OUT((int)3.99f); OUT(-d); OUT(1 / 2.0 * 8); double arr[2] = {1, 2.5}; OUT(arr[1] * 2);
    long big = 9007199254740993L; OUT((double)big == big + 1); unsigned long u = 18446744073709551615ul; OUT((double)u > 1e19); OUT(d <= e); OUT(d >= 1.5);
}
