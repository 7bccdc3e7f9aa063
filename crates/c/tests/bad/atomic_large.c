struct pair { long a, b; };
_Atomic struct pair p;
int main(void) { return 0; }
