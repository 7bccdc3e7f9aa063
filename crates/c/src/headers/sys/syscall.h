#pragma once
#define SYS_futex 202
#define SYS_gettid 186
#define SYS_membarrier 324
#define SYS_getcpu 309
#define __NR_futex 202
#define __NR_gettid 186
#define __NR_membarrier 324
#define __NR_getcpu 309
long syscall(long, ...);
