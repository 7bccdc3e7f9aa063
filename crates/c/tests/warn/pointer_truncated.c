int x;
int main(void) {
    return (int)&x;
}
