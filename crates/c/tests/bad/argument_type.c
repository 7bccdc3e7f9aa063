struct s { int a; };
int use(int x) { return x; }
int main(void) {
    struct s v = {1};
    return use(v);
}
