/* The bit builtins of GNU C. */
unsigned short __builtin_bswap16(unsigned short x) { return x << 8 | x >> 8; }
unsigned __builtin_bswap32(unsigned x) {
    return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}
unsigned long __builtin_bswap64(unsigned long x) {
    return (unsigned long)__builtin_bswap32(x) << 32 | __builtin_bswap32(x >> 32);
}
int __builtin_popcountl(unsigned long x) {
    int n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}
int __builtin_ctzl(unsigned long x) {
    int n = 0;
    for (; !(x & 1); x >>= 1)
        n++;
    return n;
}
int __builtin_clzl(unsigned long x) {
    int n = 63;
    while (x >>= 1)
        n--;
    return n;
}
int __builtin_popcountll(unsigned long x) { return __builtin_popcountl(x); }
int __builtin_ctzll(unsigned long x) { return __builtin_ctzl(x); }
int __builtin_clzll(unsigned long x) { return __builtin_clzl(x); }
int __builtin_popcount(unsigned x) { return __builtin_popcountl(x); }
int __builtin_parity(unsigned x) { return __builtin_popcountl(x) & 1; }
int __builtin_ctz(unsigned x) { return __builtin_ctzl(x); }
int __builtin_clz(unsigned x) { return __builtin_clzl(x) - 32; }
int __builtin_ffs(int x) { return x ? __builtin_ctzl(x) + 1 : 0; }
int __builtin_ffsl(long x) { return x ? __builtin_ctzl(x) + 1 : 0; }
int __builtin_ffsll(long x) { return x ? __builtin_ctzl(x) + 1 : 0; }
int __builtin_parityl(unsigned long x) { return __builtin_popcountl(x) & 1; }
int __builtin_parityll(unsigned long x) { return __builtin_popcountl(x) & 1; }
int __builtin_clrsb(int x) { return __builtin_clzl((unsigned)(x < 0 ? ~x : x) << 1 | 1) - 32; }
int ffs(int x) { return __builtin_ffs(x); }
int ffsl(long x) { return __builtin_ffsl(x); }
int ffsll(long long x) { return __builtin_ffsl(x); }
