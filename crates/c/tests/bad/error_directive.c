#ifndef LOCKS
#error "define LOCKS"
#endif
int main(void) { return 0; }
