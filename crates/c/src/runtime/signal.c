/* Signals that a program raises itself; none comes from outside. */
#include <signal.h>
static _Atomic(__sighandler_t) __fp_handlers[65];
void (*signal(int n, void (*handler)(int)))(int) {
    if (n < 1 || n > 64)
        return SIG_ERR;
    return __atomic_exchange_n(&__fp_handlers[n], handler, __ATOMIC_SEQ_CST);
}
int sigaction(int n, const struct sigaction *new, struct sigaction *old) {
    if (n < 1 || n > 64)
        return -1;
    if (old)
        old->sa_handler = __atomic_load_n(&__fp_handlers[n], __ATOMIC_SEQ_CST);
    if (new)
        __atomic_store_n(&__fp_handlers[n], new->sa_handler, __ATOMIC_SEQ_CST);
    return 0;
}
void abort(void);
void exit(int);
int raise(int n) {
    if (n < 1 || n > 64)
        return -1;
    void (*handler)(int) = __atomic_load_n(&__fp_handlers[n], __ATOMIC_SEQ_CST);
    if (handler == SIG_IGN || (handler == SIG_DFL && (n == SIGCHLD || n == SIGCONT)))
        return 0;
    if (handler != SIG_DFL)
        handler(n);
    else if (n == SIGABRT || n == SIGSEGV || n == SIGBUS || n == SIGFPE || n == SIGILL)
        abort();
    else
        exit(128 + n);
    return 0;
}
int sigemptyset(sigset_t *s) {
    for (int i = 0; i < 16; i++)
        s->__bits[i] = 0;
    return 0;
}
int sigfillset(sigset_t *s) {
    for (int i = 0; i < 16; i++)
        s->__bits[i] = ~0UL;
    return 0;
}
int sigaddset(sigset_t *s, int n) {
    s->__bits[n / 64] |= 1UL << n % 64;
    return 0;
}
int sigdelset(sigset_t *s, int n) {
    s->__bits[n / 64] &= ~(1UL << n % 64);
    return 0;
}
int sigismember(const sigset_t *s, int n) { return s->__bits[n / 64] >> n % 64 & 1; }
