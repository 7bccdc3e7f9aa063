int main(void) {
    int x;
    asm volatile("movl $1, %0" : "=r"(x));
    return x;
}
