
static volatile int stopped;
static int cores[256], core_count;
static uint64_t wanted, deadline, runs;
static unsigned char *memory;
static int order[LOCATIONS + 1][BATCH];
static uint64_t seed;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Final states and how often they were seen. */
enum { MOST_STATES = 1 << 14 };
static struct { uint64_t count, values[OBSERVED + 1]; } states[MOST_STATES];
static int state_count;

static void count_state(const uint64_t *state) {
  uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < OBSERVED; i++) hash = (hash ^ state[i]) * 1099511628211u;
  for (uint64_t at = hash;; at++) {
    at %= MOST_STATES;
    if (!states[at].count) {
      if (++state_count == MOST_STATES) exit(3);
      memcpy(states[at].values, state, OBSERVED * sizeof *state);
    }
    if (!memcmp(states[at].values, state, OBSERVED * sizeof *state)) {
      states[at].count++;
      return;
    }
  }
}

/* All threads, between batches. */
static struct { _Alignas(64) int arrived, turn; } gate;

static void wait_for_all(void) {
  int turn = __atomic_load_n(&gate.turn, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&gate.arrived, 1, __ATOMIC_ACQ_REL) == THREADS) {
    gate.arrived = 0;
    __atomic_store_n(&gate.turn, turn + 1, __ATOMIC_RELEASE);
    return;
  }
  for (int tries = 1; __atomic_load_n(&gate.turn, __ATOMIC_ACQUIRE) == turn; tries++) {
    relax();
    if (tries % 1024 == 0) sched_yield();
  }
}

/* Locations of different runs lie in random order, so that neighbours in time are none in memory. */
static void place_locations(void) {
  for (int location = 0; location < LOCATIONS; location++) {
    for (int i = BATCH - 1; i > 0; i--) {
      int other = (int)(random_number(&seed) % (uint64_t)(i + 1)), kept = order[location][i];
      order[location][i] = order[location][other];
      order[location][other] = kept;
    }
    for (int run = 0; run < BATCH; run++)
      at_of[run][location] = memory + (size_t)STRIDE * (size_t)(location * BATCH + order[location][run]);
  }
}

static void prepare(uint64_t batch) {
  if (batch % 64 == 0) place_locations();
  for (int run = 0; run < BATCH; run++) {
    set_up(at_of[run]);
    meeting[run].arrived = 0;
  }
  /* With more threads than cores, those that meet would wait for others that do not run. */
  mode_of_batch = core_count < THREADS ? ALONE : (int)(batch % MODES);
}

static void collect(void) {
  for (int run = 0; run < BATCH; run++) {
    uint64_t *seen[THREADS], state[OBSERVED + 1];
    for (int thread = 0; thread < THREADS; thread++) seen[thread] = seen_by[thread][run];
    observe(at_of[run], seen, state);
    count_state(state);
  }
  runs += BATCH;
}

static void pin(int thread, uint64_t batch) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cores[((uint64_t)thread + batch) % (uint64_t)core_count], &set);
  sched_setaffinity(0, sizeof set, &set);
#else
  (void)thread, (void)batch;
#endif
}

static void *work(void *argument) {
  int thread = (int)(intptr_t)argument;
  for (uint64_t batch = 0;; batch++) {
    /* Who runs on which core changes now and then. */
    if (batch % 256 == 0) pin(thread, batch / 256);
    if (thread == 0) {
      if (runs >= wanted || now() >= deadline) stopped = 1;
      if (!stopped) prepare(batch);
    }
    wait_for_all();
    /* One thread may stop at any time; all of them look at the same place. */
    int is_over = stopped;
    wait_for_all();
    if (is_over) return 0;
    bodies[thread](mode_of_batch);
    wait_for_all();
    if (thread == 0) collect();
  }
}

/* The end of the input is a request to stop. */
static volatile int asked;
static void *listen(void *unused) {
  char byte;
  (void)unused;
  while (read(0, &byte, 1) > 0) {
  }
  asked = 1;
  deadline = 0;
  return 0;
}

int main(int argc, char **argv) {
  wanted = argc > 1 ? strtoull(argv[1], 0, 10) : 1000000u;
  uint64_t start = now(), limit = argc > 2 ? strtoull(argv[2], 0, 10) : 0;
  deadline = limit ? start + limit : UINT64_MAX;
  seed = argc > 3 ? strtoull(argv[3], 0, 10) | 1 : 88172645463325252u;
  for (int i = 4; i < argc && core_count < 256; i++) cores[core_count++] = atoi(argv[i]);
  if (!core_count) cores[core_count++] = 0;
  signal(SIGINT, SIG_IGN);
  memory = aligned_alloc(STRIDE, (size_t)STRIDE * BATCH * (LOCATIONS + 1));
  if (!memory) return 4;
  memset(memory, 0, (size_t)STRIDE * BATCH * (LOCATIONS + 1));
  for (int location = 0; location < LOCATIONS; location++)
    for (int i = 0; i < BATCH; i++) order[location][i] = i;
  place_locations();
  pthread_t listener, threads[THREADS];
  pthread_create(&listener, 0, listen, 0);
  for (int thread = 0; thread < THREADS; thread++) {
    pauses[thread][0] = random_number(&seed);
    if (pthread_create(&threads[thread], 0, work, (void *)(intptr_t)thread)) return 4;
  }
  for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], 0);
  printf("%llu %llu %d\n", (unsigned long long)runs, (unsigned long long)(now() - start), asked);
  for (int i = 0; i < MOST_STATES; i++) {
    if (!states[i].count) continue;
    printf("%llu", (unsigned long long)states[i].count);
    for (int j = 0; j < OBSERVED; j++) printf(" %llu", (unsigned long long)states[i].values[j]);
    printf("\n");
  }
  return 0;
}
