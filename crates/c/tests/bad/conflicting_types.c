int f(int);
long f(int);
int main(void) { return 0; }
