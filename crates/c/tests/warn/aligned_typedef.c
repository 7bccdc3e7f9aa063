typedef int line __attribute__((aligned(64)));
int main(void) { return 0; }
