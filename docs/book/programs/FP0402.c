// check: -m sc
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
#ifdef MENDED
    pthread_join(thread, 0);
    pthread_mutex_destroy(&lock);
#else
    pthread_mutex_destroy(&lock);
    pthread_join(thread, 0);
#endif
    return 0;
}
