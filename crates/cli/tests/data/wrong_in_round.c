// Wrong in the round ROUND of a loop that constants do not end.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *writer(void *arg) {
    int rounds = 0;
    while (atomic_fetch_add(&x, 1) % 3 != 2) {
        rounds++;
        assert(rounds != ROUND);
    }
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
