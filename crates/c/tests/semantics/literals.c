void run(void) {
    OUT(0x7fffffff); OUT(0xffffffff); OUT(017); OUT(0b1011); OUT(2147483648); OUT(sizeof(2147483648)); OUT(sizeof(0xffffffff));
    OUT('\n'); OUT('\x41'); OUT('\377'); OUT('\\'); OUT(1e3); OUT(0x10p2); OUT(sizeof(1.0f)); OUT(sizeof(1.0)); OUT(10ul); OUT(sizeof(1l));
    OUT(1.9); OUT(-1.9);
}
