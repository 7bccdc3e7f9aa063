int counter;
int main(void) {
    countr++;
    return 0;
}
