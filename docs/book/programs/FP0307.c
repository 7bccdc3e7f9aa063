// check: -m sc
#include <pthread.h>
#include <stdlib.h>

struct job {
    int kind;
    int size;
};

static void *run(void *argument) {
    struct job *job = argument;
    return job->size > 4 ? argument : 0;
}

int main(void) {
    pthread_t thread;
#ifdef MENDED
    struct job *job = calloc(1, sizeof *job);
#else
    struct job *job = malloc(sizeof *job);
#endif
    job->kind = 1;
    pthread_create(&thread, 0, run, job);
    pthread_join(thread, 0);
    free(job);
    return 0;
}
