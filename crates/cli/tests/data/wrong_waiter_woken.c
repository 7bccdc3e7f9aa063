#include <pthread.h>
#include <assert.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int items = 0, space = 1;
void *producer(void *a) {
    pthread_mutex_lock(&m);
    while (space == 0)
        pthread_cond_wait(&c, &m);
    space--; items++;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
void *consumer(void *a) {
    pthread_mutex_lock(&m);
    while (items == 0)
        pthread_cond_wait(&c, &m);
    items--; space++;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t p[2], q[2];
    for (int i = 0; i < 2; i++) { pthread_create(&p[i], 0, producer, 0); pthread_create(&q[i], 0, consumer, 0); }
    for (int i = 0; i < 2; i++) { pthread_join(p[i], 0); pthread_join(q[i], 0); }
}
