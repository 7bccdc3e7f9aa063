#include <pthread.h>
#include <semaphore.h>
static sem_t full, empty; static int buf[2], got; static void *producer(void *a) { for (int i = 1; i <= 4; i++) { sem_wait(&empty); buf[i % 2] = i; sem_post(&full); } return 0; } static void *consumer(void *a) { for (int i = 1; i <= 4; i++) { sem_wait(&full); got = got * 10 + buf[i % 2]; sem_post(&empty); } return 0; }
void run(void) { sem_init(&full, 0, 0); sem_init(&empty, 0, 2); pthread_t p, c; pthread_create(&p, 0, producer, 0); pthread_create(&c, 0, consumer, 0); pthread_join(p, 0); pthread_join(c, 0); OUT(got); int v; sem_getvalue(&empty, &v); OUT(v); OUT(sem_trywait(&full)); OUT(sem_trywait(&empty)); OUT(sem_destroy(&full)); }
