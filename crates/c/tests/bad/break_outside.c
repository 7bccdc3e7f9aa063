int main(void) {
    break;
}
