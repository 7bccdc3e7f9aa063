// check: -m rc20
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    atomic_int owners;
    int value;
};

static void release(struct shared *s) {
#ifdef MENDED
    if (atomic_fetch_sub_explicit(&s->owners, 1, memory_order_acq_rel) == 1)
        free(s);
#else
    if (atomic_fetch_sub_explicit(&s->owners, 1, memory_order_relaxed) == 1)
        free(s);
#endif
}

static void *reader(void *argument) {
    struct shared *s = argument;
    int seen = s->value > 0;
    release(s);
    return (void *)(long)seen;
}

int main(void) {
    pthread_t thread;
    struct shared *s = malloc(sizeof *s);
    atomic_init(&s->owners, 2);
    s->value = 1;
    pthread_create(&thread, 0, reader, s);
    release(s);
    pthread_join(thread, 0);
    return 0;
}
