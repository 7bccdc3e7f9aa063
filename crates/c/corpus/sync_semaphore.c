/*
 * Two threads take turns with two semaphores.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: Each post releases what the next wait acquires.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <semaphore.h>

static sem_t ping, pong;
static int n;

static void *first(void *arg) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&ping);
        assert(n % 2 == 0);
        n++;
        sem_post(&pong);
    }
    return 0;
}

static void *second(void *arg) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&pong);
        assert(n % 2 == 1);
        n++;
        sem_post(&ping);
    }
    return 0;
}

int main(void) {
    sem_init(&ping, 0, 1);
    sem_init(&pong, 0, 0);
    pthread_t t[2];
    pthread_create(&t[0], 0, first, 0);
    pthread_create(&t[1], 0, second, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(n == 4);
    return 0;
}
