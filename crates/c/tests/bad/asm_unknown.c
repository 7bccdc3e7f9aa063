int main(void) {
    int x;
    asm volatile("rdpmc" : "=a"(x) : "c"(0));
    return x;
}
