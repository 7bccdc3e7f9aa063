/*
 * Somebody does; and so with realloc, which leaves what was there.
 * expect: all=safe (with --malloc-fails all=safe)
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    int *p = malloc(sizeof *p);
    if (!p)
        return 1;
    *p = 1;
    int *q = realloc(p, 2 * sizeof *p);
    assert((q ? q : p)[0] == 1);
    free(q ? q : p);
    return 0;
}
