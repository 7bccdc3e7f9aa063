struct __attribute__((packed)) s { char a; int b : 20; char c; };
int main(void) { return 0; }
