#include <alloca.h>
int main(void) {
    char *p = alloca(4);
    return p[0];
}
