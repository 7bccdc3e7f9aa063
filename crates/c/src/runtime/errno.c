/* The number of the last error, one per thread. */
_Thread_local int __fp_errno;
int *__errno_location(void) { return &__fp_errno; }
char *strerror(int n) { return "error"; }
int strerror_r(int n, char *text, unsigned long size) {
    if (size > 0)
        text[0] = 0;
    return 0;
}
