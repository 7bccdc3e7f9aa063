int main(void) {
    return 089;
}
