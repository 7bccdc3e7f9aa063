#pragma once
#include <stddef.h>
typedef unsigned useconds_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define _SC_LEVEL1_DCACHE_LINESIZE 190
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define F_OK 0
int usleep(useconds_t);
unsigned sleep(unsigned);
unsigned alarm(unsigned);
int pause(void);
void _exit(int);
pid_t fork(void);
pid_t getpid(void);
pid_t getppid(void);
pid_t gettid(void);
uid_t getuid(void);
uid_t geteuid(void);
long sysconf(int);
int getpagesize(void);
int close(int);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int pipe(int *);
int dup(int);
int dup2(int, int);
int unlink(const char *);
int access(const char *, int);
int getopt(int, char *const *, const char *);
extern char *optarg;
extern int optind, opterr, optopt;
long syscall(long, ...);
int isatty(int);
int gethostname(char *, size_t);
