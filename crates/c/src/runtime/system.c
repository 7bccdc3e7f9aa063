/* What programs ask the system for: pages, random bytes, who they are. */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
void *calloc(size_t, size_t);
void free(void *);
void *mmap(void *at, size_t n, int access, int flags, int file, off_t offset) { return calloc(1, n); }
int munmap(void *p, size_t n) {
    free(p);
    return 0;
}
ssize_t getrandom(void *to, size_t n, unsigned flags) {
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = __VERIFIER_nondet_uchar();
    return n;
}
int getentropy(void *to, size_t n) { return getrandom(to, n, 0) < 0 ? -1 : 0; }
pid_t getpid(void) { return 1000; }
pid_t getppid(void) { return 999; }
pid_t gettid(void) { return 1000 + (int)__VERIFIER_tid(); }
uid_t getuid(void) { return 1000; }
uid_t geteuid(void) { return 1000; }
long sysconf(int name) { return name == _SC_PAGESIZE ? 4096 : name == _SC_LEVEL1_DCACHE_LINESIZE ? 64 : 4; }
int getpagesize(void) { return 4096; }
