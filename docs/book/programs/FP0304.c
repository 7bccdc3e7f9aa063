// check: -m sc
#include <pthread.h>

static pthread_t worker;

static void *work(void *argument) {
    return (void *)(long)*(int *)argument;
}

#ifdef MENDED
static int input = 5;
#endif

static void start(void) {
#ifndef MENDED
    int input = 5;
#endif
    pthread_create(&worker, 0, work, &input);
}

int main(void) {
    start();
    pthread_join(worker, 0);
    return 0;
}
