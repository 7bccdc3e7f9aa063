/* System calls: futex, as its manual page has it, and gettid.

   The kernel looks at the word and queues the thread under a lock, under which it also wakes threads: a wait whose word has
   changed does not sleep, and no wake is lost on it. Before that lock a wait counts itself and a wake looks at the count, each with
   a full barrier between the word and the count; a wake that finds nobody takes no lock, and orders nothing else. Which of several
   threads is woken is not said, so any of them may be. Every wait has a ticket; at most 32 are told apart. */
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
static unsigned __fp_futex_lock;
static unsigned __fp_futex_waiting;
static unsigned __fp_futex_next;
/* The word that a ticket waits for; none when it was woken or has given up. */
static unsigned *__fp_futex_at[32];
static unsigned __fp_futex_bits[32];
static unsigned __fp_futex_woken[32];
static int __fp_futex_gives_up(unsigned ticket) {
    __fp_lock(&__fp_futex_lock);
    int waits = __fp_futex_at[ticket] != 0;
    __fp_futex_at[ticket] = 0;
    __fp_unlock(&__fp_futex_lock);
    if (waits)
        __atomic_fetch_sub(&__fp_futex_waiting, 1, __ATOMIC_RELAXED);
    return waits;
}
static long __fp_futex_wait(unsigned *at, unsigned value, const struct timespec *time, unsigned bits) {
    __atomic_fetch_add(&__fp_futex_waiting, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __fp_lock(&__fp_futex_lock);
    if (__atomic_load_n(at, __ATOMIC_RELAXED) != value) {
        __fp_unlock(&__fp_futex_lock);
        __atomic_fetch_sub(&__fp_futex_waiting, 1, __ATOMIC_RELAXED);
        errno = EAGAIN;
        return -1;
    }
    unsigned ticket = __fp_futex_next++;
    if (ticket >= 32)
        __fp_unsupported("more than 32 waits on futexes");
    __fp_futex_at[ticket] = at;
    __fp_futex_bits[ticket] = bits;
    __fp_unlock(&__fp_futex_lock);
    if (time && __VERIFIER_nondet_bool()) {
        if (__fp_futex_gives_up(ticket)) {
            errno = ETIMEDOUT;
            return -1;
        }
        return 0;
    }
    if (__fp_spurious() && __VERIFIER_nondet_bool()) {
        __fp_futex_gives_up(ticket);
        return 0;
    }
    __fp_await(&__fp_futex_woken[ticket], "!=", 0, __ATOMIC_ACQUIRE);
    return 0;
}
static int __fp_futex_is_for(unsigned ticket, unsigned *at, unsigned bits) {
    return __fp_futex_at[ticket] == at && (__fp_futex_bits[ticket] & bits);
}
/* Wakes some that wait for a word, and lets some of the others wait for another one. Under the lock. */
static unsigned __fp_futex_move(unsigned *at, unsigned wake, unsigned move, unsigned *to, unsigned bits) {
    unsigned matching = 0, done = 0;
    for (unsigned t = 0; t < __fp_futex_next; t++)
        matching += __fp_futex_is_for(t, at, bits);
    unsigned most = matching < wake ? matching : wake;
    for (unsigned t = 0; t < __fp_futex_next && done < most; t++) {
        if (!__fp_futex_is_for(t, at, bits))
            continue;
        /* Another one may be woken in its place, as long as there are enough. */
        if (matching-- > most - done && __VERIFIER_nondet_bool())
            continue;
        __fp_futex_at[t] = 0;
        __atomic_fetch_sub(&__fp_futex_waiting, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&__fp_futex_woken[t], 1, __ATOMIC_RELEASE);
        done++;
    }
    for (unsigned t = 0; t < __fp_futex_next && move > 0; t++)
        if (__fp_futex_is_for(t, at, bits)) {
            __fp_futex_at[t] = to;
            move--;
            done++;
        }
    return done;
}
static long __fp_futex_wake(unsigned *at, unsigned wake, unsigned bits) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&__fp_futex_waiting, __ATOMIC_RELAXED) == 0)
        return 0;
    __fp_lock(&__fp_futex_lock);
    unsigned done = __fp_futex_move(at, wake, 0, at, bits);
    __fp_unlock(&__fp_futex_lock);
    return done;
}
static long __fp_futex_requeue(unsigned *at, unsigned wake, unsigned move, unsigned *to, int compares, unsigned value) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __fp_lock(&__fp_futex_lock);
    if (compares && __atomic_load_n(at, __ATOMIC_RELAXED) != value) {
        __fp_unlock(&__fp_futex_lock);
        errno = EAGAIN;
        return -1;
    }
    unsigned done = __fp_futex_move(at, wake, move, to, FUTEX_BITSET_MATCH_ANY);
    __fp_unlock(&__fp_futex_lock);
    return done;
}
long syscall(long number, ...) {
    if (number == SYS_gettid)
        return __VERIFIER_tid() + 1;
    if (number != SYS_futex)
        __fp_unsupported("a system call other than futex and gettid");
    va_list more;
    va_start(more, number);
    unsigned *at = va_arg(more, unsigned *);
    int operation = va_arg(more, int) & FUTEX_CMD_MASK;
    unsigned value = va_arg(more, unsigned);
    if (operation == FUTEX_WAKE)
        return __fp_futex_wake(at, value, FUTEX_BITSET_MATCH_ANY);
    if (operation == FUTEX_WAIT)
        return __fp_futex_wait(at, value, va_arg(more, const struct timespec *), FUTEX_BITSET_MATCH_ANY);
    if (operation != FUTEX_WAIT_BITSET && operation != FUTEX_WAKE_BITSET && operation != FUTEX_REQUEUE
        && operation != FUTEX_CMP_REQUEUE)
        __fp_unsupported("a futex operation other than wait, wake and requeue");
    unsigned long fourth = va_arg(more, unsigned long);
    unsigned *to = va_arg(more, unsigned *);
    if (operation == FUTEX_REQUEUE)
        return __fp_futex_requeue(at, value, fourth, to, 0, 0);
    unsigned last = va_arg(more, unsigned);
    if (operation == FUTEX_CMP_REQUEUE)
        return __fp_futex_requeue(at, value, fourth, to, 1, last);
    if (last == 0) {
        errno = EINVAL;
        return -1;
    }
    if (operation == FUTEX_WAKE_BITSET)
        return __fp_futex_wake(at, value, last);
    return __fp_futex_wait(at, value, (const struct timespec *)fourth, last);
}
