int main(void) {
    int n = sizeof(({ inside: 1; }));
    goto inside;
    return n;
}
