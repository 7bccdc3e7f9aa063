// check: -m sc
#include <stdlib.h>

int main(void) {
    char *buffer = malloc(16), *at = buffer;
    while (at < buffer + 4)
        *at++ = 'x';
#ifdef MENDED
    free(buffer);
#else
    free(at);
#endif
    return 0;
}
