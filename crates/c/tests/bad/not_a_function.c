int x;
int main(void) {
    return x(3);
}
