/*
 * Wrappers around wrappers, for two types.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct pair { int a; long b; };

static void *inner(void *to, const void *from, size_t n) { return memcpy(to, from, n); }
static void *outer(void *to, const void *from, size_t n) { return inner(to, from, n); }
static int same(const void *a, const void *b, size_t n) { return memcmp(a, b, n) == 0; }

int main(void)
{
    struct pair p = { 1, 2 }, q;
    short s[3] = { 3, 4, 5 }, t[3];
    outer(&q, &p, sizeof q);
    outer(t, s, sizeof t);
    assert(q.a == 1 && q.b == 2 && t[2] == 5 && same(s, t, sizeof s));
    return 0;
}
