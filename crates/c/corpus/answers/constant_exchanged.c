/*
 * An atomic exchange writes to an element of a constant table.
 * expect: all=FP0312
 */
#include <pthread.h>

static const int table[2] = { 1, 2 };

static void *worker(void *arg)
{
    __atomic_exchange_n((int *)arg, 5, __ATOMIC_SEQ_CST);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, (void *)&table[1]);
    pthread_join(t, 0);
    return 0;
}
