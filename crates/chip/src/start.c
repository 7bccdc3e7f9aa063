#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Runs whose locations lie in memory at the same time. */
#define BATCH 1024

static unsigned char *at_of[BATCH][LOCATIONS + 1];
static int mode_of_batch;
static struct { _Alignas(64) int arrived; } meeting[BATCH];
static uint64_t pauses[THREADS][8];

static inline void relax(void) {
#if defined(__x86_64__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Threads wait for each other; who waits long lets others run. */
static inline void meet(int run) {
  __atomic_fetch_add(&meeting[run].arrived, 1, __ATOMIC_ACQ_REL);
  for (int tries = 1; __atomic_load_n(&meeting[run].arrived, __ATOMIC_ACQUIRE) < THREADS; tries++) {
    relax();
    if (tries % 4096 == 0) sched_yield();
  }
}

static inline uint64_t random_number(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* A value as final states show it: addresses by name, and numbers of 32 bits with their sign. */
static uint64_t value(uint64_t value, unsigned char *const *at, int is_narrow) {
  for (int location = 0; location < LOCATIONS; location++) {
    uint64_t offset = value - (uint64_t)at[location];
    if (offset < sizes[location]) return names[location] + offset;
  }
  return is_narrow ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Modes: threads run on their own, or meet before each run, or meet and then pause for a while. */
enum { ALONE, MEET, MEET_AND_PAUSE, MODES };

#define BODY(n)                                                                 \
  static uint64_t seen_##n[BATCH][REGISTERS];                                   \
  static void run_##n(int mode) {                                               \
    for (int run = 0; run < BATCH; run++) {                                     \
      if (mode != ALONE) meet(run);                                             \
      if (mode == MEET_AND_PAUSE)                                               \
        for (uint64_t left = random_number(&pauses[n][0]) & 15; left; left--)   \
          __asm__ volatile("" : : : "memory");                                  \
      thread_##n(at_of[run], seen_##n[run]);                                    \
    }                                                                           \
  }
