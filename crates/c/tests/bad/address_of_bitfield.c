struct f { int a : 3; };
int main(void) {
    struct f x = {1};
    return &x.a != 0;
}
