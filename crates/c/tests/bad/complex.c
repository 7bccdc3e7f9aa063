double _Complex z;
int main(void) { return 0; }
