/*
 * A flag that nobody clears, tested and set by three threads.
 * expect: all=FP0401
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_flag lock = ATOMIC_FLAG_INIT;

void *run(void *a)
{
    while (atomic_flag_test_and_set(&lock))
        ;
    return 0;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
