void f(void) { return 3; }
int main(void) {
    f();
    return 0;
}
