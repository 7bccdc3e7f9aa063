void run(void) {
    unsigned x = 0x12345678; unsigned long l = 0x0123456789abcdefUL;
    OUT(__builtin_bswap16(0x1234)); OUT(__builtin_bswap32(x)); OUT(__builtin_bswap64(l)); OUT(__builtin_clz(x)); OUT(__builtin_ctz(x)); OUT(__builtin_popcount(x));
    OUT(__builtin_clzl(l)); OUT(__builtin_ctzl(l << 5)); OUT(__builtin_popcountll(l)); OUT(__builtin_ffs(0)); OUT(__builtin_ffs(8)); OUT(__builtin_parity(7)); OUT(__builtin_ffsl(1L << 40));
}
