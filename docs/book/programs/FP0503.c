// check: -m sc
#include <pthread.h>

static int limit = 3;

static void *count(void *unused) {
    unsigned char i = 0;
    int last = limit + 300 * (limit > 2);
#ifdef MENDED
    if (last > 255)
        last = 255;
#endif
    while (i < last)
        i++;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    pthread_join(thread, 0);
    return 0;
}
