/*
 * A block that ends in the middle of an element.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct s { int a, b; };

int main(void) { struct s x[2] = { { 1, 2 }, { 3, 4 } }; memset(x, 0, sizeof(struct s) + sizeof(int)); assert(x[0].b == 0 && x[1].a == 0 && x[1].b == 4); return 0; }
