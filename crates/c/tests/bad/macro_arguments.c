#define PAIR(a, b) ((a) + (b))
int main(void) {
    return PAIR(1);
}
