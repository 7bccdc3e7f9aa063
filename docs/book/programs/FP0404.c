// check: -m sc
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *put(void *unused) {
    pthread_mutex_lock(&lock);
    items = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, put, 0);
    pthread_mutex_lock(&lock);
#ifdef MENDED
    while (!items)
        pthread_cond_wait(&filled, &lock);
#else
    if (!items)
        pthread_cond_wait(&filled, &lock);
#endif
    assert(items == 1);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
