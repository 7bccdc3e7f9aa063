/*
 * A sense-reversing barrier with relaxed accesses.
 * expect: sc=safe tso=safe pso=unsafe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=16 tso=16 pso=16 ra=16 rc11=16 rc20=16 power=64 armv8=64
 * why: The phases race in RC11 and may be seen late on POWER and ARMv8; on TSO and PSO the read-modify-write
 *      drains the store buffer.
 *      PSO may show the new sense before the counter is set again: the other thread is then counted in the old round
 *      and both wait for ever.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define ACQ memory_order_relaxed
#define REL memory_order_relaxed
#define ACQREL memory_order_relaxed

static atomic_int count = 2, sense;
static int phase[2];

static void barrier(int *mine) {
    *mine = !*mine;
    if (atomic_fetch_sub_explicit(&count, 1, ACQREL) == 1) {
        atomic_store_explicit(&count, 2, memory_order_relaxed);
        atomic_store_explicit(&sense, *mine, REL);
    } else {
        while (atomic_load_explicit(&sense, ACQ) != *mine)
            ;
    }
}

static void *worker(void *arg) {
    int me = (int)(long)arg, mine = 0;
    for (int round = 1; round <= 2; round++) {
        phase[me] = round;
        barrier(&mine);
        assert(phase[1 - me] >= round);
        barrier(&mine);
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
