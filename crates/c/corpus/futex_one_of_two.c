/*
 * Two threads wait for a word that does not change, and one is woken.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The one that was not woken waits for ever, whichever it is.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned word;

static void *waiter(void *arg) {
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 6);
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, waiter, NULL);
    while (syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 4) == 0)
        ;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
