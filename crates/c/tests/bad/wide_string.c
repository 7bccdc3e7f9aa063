int main(void) {
    return L"wide"[0];
}
