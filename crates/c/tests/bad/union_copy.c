union u { int w; char c[4]; };
int main(void) {
    union u a = {1}, b;
    b = a;
    return b.w;
}
