int main(void) {
    long r;
    return __builtin_add_overflow(1UL, -1L, &r);
}
