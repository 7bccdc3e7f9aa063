/*
 * A word is written before a thread starts, seen by byte in it, and as another word when it is joined.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: All accesses are ordered by the start and the join, so that C defines what the bytes are.
 */
#include <assert.h>
#include <pthread.h>

static union {
    unsigned word;
    unsigned char bytes[4];
    unsigned short halves[2];
} g;

static void *worker(void *unused) {
    assert(g.bytes[0] == 4 && g.bytes[3] == 1);
    g.bytes[1] = 0xff;
    return unused;
}

int main(void) {
    pthread_t thread;
    g.word = 0x01020304;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    assert(g.word == 0x0102ff04 && g.halves[0] == 0xff04);
    return 0;
}
