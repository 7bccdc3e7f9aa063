/*
 * The same wait, called through a pointer from two places.
 * expect: all=FP0101
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x, y;

static void spin(void)
{
    while (atomic_load(&x) == 1)
        ;
}

static void (*wait)(void) = spin;

void *writer(void *u) { x = 1; y = 1; x = 0; return 0; }

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    wait();
    int before = y;
    wait();
    assert(!(before == 0 && y == 1));
    return 0;
}
