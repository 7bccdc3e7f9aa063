// check: -m sc
#include <pthread.h>
#include <stdatomic.h>

static void nothing(void) {}
static _Atomic(void (*)(void)) handler;

static void *set(void *unused) {
    atomic_store(&handler, nothing);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    void (*call)(void) = atomic_load(&handler);
#ifdef MENDED
    if (call)
        call();
#else
    call();
#endif
    pthread_join(thread, 0);
    return 0;
}
