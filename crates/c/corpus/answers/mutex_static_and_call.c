/*
 * A static initialiser and a call: both say the same.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
    pthread_mutex_init(&m, 0);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_destroy(&m);
    pthread_mutex_init(&m, 0);
    pthread_mutex_destroy(&m);
    return 0;
}
