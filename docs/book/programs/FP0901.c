// check: -m sc
static int sum(int n) {
#ifdef MENDED
    int total = 0;
    while (n > 0)
        total += n--;
    return total;
#else
    return n == 0 ? 0 : n + sum(n - 1);
#endif
}

#include <pthread.h>

static void *work(void *unused) {
    return (void *)(long)sum(100000);
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
