/*
 * The bound cuts every execution of a loop on shared data: it is raised until one comes to its end.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int n = 20, x;

void *run(void *u)
{
    for (int i = 0; i < n; i++)
        x = i;
    return 0;
}

int main(void) { pthread_t p; pthread_create(&p, 0, run, 0); n = 21; pthread_join(p, 0); return 0; }
