#pragma once
#define _mm_mfence() __asm__ volatile("mfence" ::: "memory")
#define _mm_lfence() __asm__ volatile("lfence" ::: "memory")
#define _mm_sfence() __asm__ volatile("sfence" ::: "memory")
#define _mm_pause() __asm__ volatile("pause" ::: "memory")
#define __rdtsc() ((unsigned long long)__builtin_ia32_rdtsc())
#define _rdtsc() __rdtsc()
#define __rdtscp(processor) (*(processor) = 0, __rdtsc())
