#include "include_self.c"
int main(void) { return 0; }
