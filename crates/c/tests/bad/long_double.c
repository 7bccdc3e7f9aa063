int main(void) {
    long double x = 1;
    return x > 0;
}
