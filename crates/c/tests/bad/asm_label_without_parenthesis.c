void f(void) __asm__);

int main(void) {
    return 0;
}
