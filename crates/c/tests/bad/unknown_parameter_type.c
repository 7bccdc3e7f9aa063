int f(size_t n) { return n > 0; }
int main(void) { return f(1); }
