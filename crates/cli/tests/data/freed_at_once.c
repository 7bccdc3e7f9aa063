#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int *p;
atomic_int done;
void *reader(void *unused) {
    int value = *p;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return (void *)(long)value;
}
int main(void) {
    pthread_t thread;
    p = malloc(sizeof *p);
    *p = 1;
    pthread_create(&thread, 0, reader, 0);
    atomic_load_explicit(&done, memory_order_relaxed);
    free(p);
    pthread_join(thread, 0);
}
