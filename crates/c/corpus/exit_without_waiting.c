/*
 * pthread_exit of main ends main only: the other thread may wait for ever.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: Nobody ends the process, so the thread waits for a semaphore that is never posted.
 */
#include <pthread.h>
#include <semaphore.h>

static sem_t s;

static void *waits(void *unused) {
    sem_wait(&s);
    return 0;
}

int main(void) {
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, waits, 0);
    pthread_exit(0);
}
