#line here
int main(void) { return 0; }
