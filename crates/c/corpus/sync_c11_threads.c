/*
 * The threads of C11: a mutex, a condition and a result.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: They are the same as those of pthreads.
 */
#include <threads.h>
#include <assert.h>

static mtx_t m;
static cnd_t c;
static int ready;

static int worker(void *arg) {
    mtx_lock(&m);
    ready = 1;
    cnd_signal(&c);
    mtx_unlock(&m);
    return 5;
}

int main(void) {
    thrd_t t;
    int result;
    mtx_init(&m, mtx_plain);
    cnd_init(&c);
    thrd_create(&t, worker, 0);
    mtx_lock(&m);
    while (!ready)
        cnd_wait(&c, &m);
    mtx_unlock(&m);
    thrd_join(t, &result);
    assert(result == 5);
    return 0;
}
