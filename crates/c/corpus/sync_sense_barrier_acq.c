/*
 * A sense-reversing barrier with release and acquire.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=16 tso=16 pso=16 ra=16 rc11=16 rc20=16 power=16 armv8=16
 * why: Arriving releases, leaving acquires.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define ACQ memory_order_acquire
#define REL memory_order_release
#define ACQREL memory_order_acq_rel

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
