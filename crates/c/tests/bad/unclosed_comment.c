int main(void) { return 0; }
/* never closed
