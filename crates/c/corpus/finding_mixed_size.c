/*
 * One object is accessed with two sizes by two threads at the same time.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The union is written as a whole by one thread while another one reads a byte of it, which no model here defines.
 */
#include <pthread.h>

union u {
    int word;
    char bytes[4];
};
union u g;

static void *reader(void *unused) {
    return g.bytes[0] ? (void *)1 : 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    g.word = 0x01020304;
    pthread_join(thread, 0);
    return 0;
}
