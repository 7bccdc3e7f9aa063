struct pair { long a, b, c; };
_Atomic struct pair p;
int main(void) { return 0; }
