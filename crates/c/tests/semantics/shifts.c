void run(void) {
    int a = -16; unsigned b = 0x80000000u; long l = 1L << 40;
    OUT(a >> 2); OUT((unsigned)a >> 28); OUT(b >> 31); OUT(l >> 38); OUT(1u << 31); OUT(1L << 62); OUT(5 << 3);
    unsigned char c = 0x80; OUT(c << 1); OUT((unsigned char)(c << 1)); int s = 3; s <<= 4; OUT(s); s >>= 2; OUT(s);
    unsigned long z = 0xffffffff00000000ul; OUT(z >> 32);
}
