void run(void) {
    signed char c = -3; unsigned char u = 250; short s = -1; unsigned short us = 65535;
    OUT(c + u); OUT(u + u); OUT(s + us); OUT(us * us); OUT(-u); OUT(~u); OUT(c >> 1); OUT(u << 4);
    OUT(s < us); OUT((unsigned)s < us); OUT(sizeof(c + c)); OUT(sizeof(u)); OUT(+c);
}
