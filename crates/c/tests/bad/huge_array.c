static char heap[1 << 23];
int main(void) {
    return heap[0];
}
