void free();
int main(void) {
    free();
    return 0;
}
