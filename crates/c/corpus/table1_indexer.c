/*
 * Threads that enter messages into a shared hash table by compare-and-swap: a reconstruction of a program of paper 001,
 * Table 1 (`indexer`, 19 traces there, loops unrolled 5 times; its lock is not known). Message m of thread t goes where
 * message m + 1 of thread t - STEP goes, so that two executions differ in who is first: 8 executions. With N = 12 and 13 it
 * is the program of the literature, with 8 and 64.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=8 tso=8 pso=8 ra=8 rc11=8 rc20=8 power=8 armv8=8
 * why: Every slot is taken by one compare-and-swap.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define SIZE 128
#define MESSAGES 4
#ifdef N
#define THREADS N
#define STEP 11
#else
#define THREADS 3
#define STEP 2
#endif

static atomic_int table[SIZE];

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int m = 1; m <= MESSAGES; m++) {
        int w = m * STEP + me;
        int h = w * 7 % SIZE;
        for (int tries = 0; tries < SIZE; tries++) {
            int free = 0;
            if (atomic_compare_exchange_strong(&table[h], &free, w))
                break;
            h = (h + 1) % SIZE;
        }
        assert(atomic_load(&table[h]) == w);
    }
    return 0;
}

int main(void) {
    pthread_t t[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], 0);
    return 0;
}
