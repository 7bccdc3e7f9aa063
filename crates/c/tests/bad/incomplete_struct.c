struct later;
int main(void) {
    struct later x;
    return 0;
}
