int main(void) {
    int twice(int x) { return 2 * x; }
    return twice(2);
}
