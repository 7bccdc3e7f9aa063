/*
 * An event on a futex, whose waiter sleeps on what it reads then instead of what it saw before.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=7 tso=7 pso=7 ra=7 rc11=7 rc20=7 power=7 armv8=7
 * why: The event may come between the look and the wait; the word is 1 by then, the wait is for 1, and the wake is over.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int event;

static void *waiter(void *arg) {
    if (atomic_load(&event) == 0)
        syscall(SYS_futex, &event, FUTEX_WAIT, atomic_load(&event), NULL);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, waiter, NULL);
    atomic_store(&event, 1);
    syscall(SYS_futex, &event, FUTEX_WAKE, 1);
    pthread_join(t, NULL);
    return 0;
}
