#include <pthread.h>
#include <stdatomic.h>

atomic_int flag;
widget_t shared;

struct pair {
    int first
    int second;
};

static void *writer(void *arg) {
    int seen = atomic_load_explicit(&flag, memory_order_acquired);
    atomic_store(&flgo, 1);
    for (int i = 0; i < count; i++) {
        seen += i
    }
    if (seen) {
        break;
    }
    seen = count + 1;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0;
    pthread_join(t, 0);
    int *p = 1.5;
    return 0;
}
