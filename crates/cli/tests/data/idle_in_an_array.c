#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *waiter(void *arg) {
    int h[2];
    int i = 0;
    do {
        h[i & 1] = atomic_load(&x);
    } while (h[0] == 0);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, waiter, NULL);
    pthread_join(t, NULL);
    return 0;
}
