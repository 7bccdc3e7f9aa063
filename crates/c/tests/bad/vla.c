int f(int n) {
    int a[n];
    return a[0];
}
int main(void) { return f(3); }
