#if 1 / 0
#endif
int main(void) { return 0; }
