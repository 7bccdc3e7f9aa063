#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

static jmp_buf back;
static atomic_int ready;

static void *other(void *unused) {
    if (atomic_load(&ready))
        longjmp(back, 1);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    if (setjmp(back) == 0)
        atomic_store(&ready, 1);
    pthread_join(thread, 0);
    return 0;
}
