int x;
#else
int main(void) { return 0; }
