int f(int n) {
    int a[n] = { 0 };
    return a[0];
}
int main(void) { return f(3); }
