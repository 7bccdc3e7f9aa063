/*
 * A mutex of three states on a futex: free, held, held and somebody may wait.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=14 tso=14 pso=14 ra=14 rc11=14 rc20=14 power=14 armv8=14
 * why: Who finds it held says so before it sleeps, and who lets it go then wakes one.
 */
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static int counter;

static long futex(atomic_int *at, int operation, int value) {
    return syscall(SYS_futex, at, operation, value, NULL, NULL, 0);
}

static void lock(void) {
    int seen = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, 1, memory_order_acquire, memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0)
        futex(&word, FUTEX_WAIT_PRIVATE, 2);
}

static void unlock(void) {
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2)
        futex(&word, FUTEX_WAKE_PRIVATE, 1);
}

static void *worker(void *arg) {
    lock();
    counter++;
    unlock();
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(counter == 2);
    return 0;
}
