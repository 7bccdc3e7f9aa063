/*
 * Nobody looks whether there was memory.
 * expect: all=safe (with --malloc-fails all=FP0301)
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int main(void) { int *p = malloc(sizeof *p); *p = 1; free(p); return 0; }
