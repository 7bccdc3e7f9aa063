/*
 * A thread builds an int byte by byte in an uninitialised variable, and gets the order of the bytes wrong.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: All targets are little-endian: the last byte is the highest, and the assertion fails.
 */
#include <assert.h>
#include <pthread.h>

static void *worker(void *unused) {
    unsigned word;
    unsigned char *bytes = (unsigned char *)&word;
    for (int i = 0; i < 4; i++)
        bytes[i] = i;
    assert(word == 0x00010203);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
