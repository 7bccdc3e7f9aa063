int main(void) {
    switch (1) {
    case 1: return 1;
    case 2: return 2;
    case 1: return 3;
    }
    return 0;
}
