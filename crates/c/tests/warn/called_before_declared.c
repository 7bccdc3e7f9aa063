int main(void) { return later(2); }
int later(int x) { return x - 2; }
