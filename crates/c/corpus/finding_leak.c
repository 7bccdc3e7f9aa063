/*
 * Heap memory is lost when all threads have ended: a warning.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: A leak is a warning and changes no verdict.
 */
#include <pthread.h>
#include <stdlib.h>

int main(void) {
    int *p = malloc(sizeof *p);
    *p = 1;
    p = 0;
    pthread_exit(0);
}
