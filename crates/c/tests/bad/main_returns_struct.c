struct s { int a; };
struct s main(void) {
    struct s r = {1};
    return r;
}
