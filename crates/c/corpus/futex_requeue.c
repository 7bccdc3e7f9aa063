/*
 * Two threads wait for a word; one is woken, the other is made to wait for another word and woken there.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=216 tso=216 pso=216 ra=216 rc11=216 rc20=216 power=216 armv8=216
 * why: Both waits begin before the word changes or see that it has changed, and each that sleeps is woken once.
 */
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int first, second;

static void *waiter(void *arg) {
    long slept = syscall(SYS_futex, &first, FUTEX_WAIT, 0, NULL);
    assert(slept == 0 || errno == EAGAIN);
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, waiter, NULL);
    atomic_store(&first, 1);
    long moved = syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 1, 1L, &second, 1);
    assert(moved >= 0 && moved <= 2);
    long woken = syscall(SYS_futex, &second, FUTEX_WAKE, 2);
    assert(woken == (moved == 2));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
