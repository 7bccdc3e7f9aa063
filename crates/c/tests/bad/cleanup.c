void done(int *p) {}
int main(void) {
    int x __attribute__((cleanup(done))) = 1;
    return x;
}
