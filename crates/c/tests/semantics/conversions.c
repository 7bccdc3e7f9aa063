void run(void) {
    long big = 0x123456789abcdefL; OUT((int)big); OUT((short)big); OUT((signed char)big); OUT((unsigned char)big); OUT((unsigned)big);
    int neg = -5; OUT((unsigned long)neg); OUT((long)(unsigned)neg); OUT((unsigned short)neg); OUT((long)(short)40000);
    unsigned long ul = -1; OUT((int)ul); OUT((long)(unsigned char)neg); char c = 300; OUT(c); OUT((int)(char)255);
}
