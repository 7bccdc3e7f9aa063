struct pair { int a, b; };
_Atomic struct pair p;
int main(void) { return p.a; }
