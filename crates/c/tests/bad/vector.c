typedef int v4 __attribute__((vector_size(16)));
v4 x;
int main(void) { return 0; }
