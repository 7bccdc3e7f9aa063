typedef int pair[2];
_Atomic pair p;
int main(void) { return 0; }
