/*
 * Threads that enter messages into a shared hash table by compare-and-swap: a reconstruction of a program of paper
 * 001, Table 1 (19 traces there, loops unrolled 5 times).
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 power=1 armv8=1
 * why: Every slot is taken by one compare-and-swap.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define SIZE 8
#define MESSAGES 2
#define THREADS 3

atomic_int table[SIZE];

static void *worker(void *arg) {
    int me = (int)(long)arg;
    for (int m = 1; m <= MESSAGES; m++) {
        int w = me * MESSAGES + m;
        int h = (w * 7) % SIZE;
        for (int tries = 0; tries < SIZE; tries++) {
            int free = 0;
            if (atomic_compare_exchange_strong(&table[h], &free, w))
                break;
            h = (h + 1) % SIZE;
        }
    }
    return 0;
}

int main(void) {
    pthread_t t[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], 0);
    int found = 0;
    for (int i = 0; i < SIZE; i++)
        found += atomic_load(&table[i]) != 0;
    assert(found == THREADS * MESSAGES);
    return 0;
}
