/*
 * A thread-local object that its thread keeps until the other has read it.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The thread ends after the semaphore was posted, and that is after the read.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static _Thread_local int v;
static int *g;
static sem_t ready, done;

static void *thread(void *unused) {
    v = 3;
    g = &v;
    sem_post(&ready);
    sem_wait(&done);
    return 0;
}

int main(void) {
    pthread_t t;
    sem_init(&ready, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&t, 0, thread, 0);
    sem_wait(&ready);
    assert(*g == 3);
    sem_post(&done);
    pthread_join(t, 0);
    return 0;
}
