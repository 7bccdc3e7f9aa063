int main(void) {
    int *p = &(1 + 2);
    return *p;
}
