asm(".globl f");
int main(void) { return 0; }
