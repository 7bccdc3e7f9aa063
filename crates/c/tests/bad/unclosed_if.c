#ifdef A
int x;
int main(void) { return 0; }
