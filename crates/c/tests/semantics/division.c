void run(void) {
    int a = -7, b = 2; OUT(a / b); OUT(a % b); OUT(7 / -2); OUT(7 % -2); OUT((unsigned)a / 2u); OUT(-7L / 2);
    unsigned char c = 200; c /= 3; OUT(c); c %= 7; OUT(c); long m = -9; OUT(m % 4); OUT(m / 4);
}
