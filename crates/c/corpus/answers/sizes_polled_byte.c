/*
 * A flag of four bytes is set through a pointer to its first byte, and another thread waits for the whole of it.
 * expect: all=FP0310
 * why: The accesses are made at the same time and have different sizes. The only read that is not ordered with the store
 *      is one that goes round again.
 */
#include <assert.h>
#include <pthread.h>

static int flag, data;

static void *setter(void *arg) {
    data = 1;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *(volatile char *)&flag = 1;
    return arg;
}

static void *waiter(void *arg) {
    while (!__atomic_load_n(&flag, __ATOMIC_RELAXED))
        ;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    assert(data == 1);
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, setter, 0);
    pthread_create(&second, 0, waiter, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
