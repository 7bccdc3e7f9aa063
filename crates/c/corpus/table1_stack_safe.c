/*
 * A stack under a lock: a reconstruction of a program of paper 001, Table 1 (1005 traces there).
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=20 tso=20 pso=20 ra=20 rc11=20 power=20 armv8=20
 * why: The popper looks before it takes, and everything is under the lock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define SIZE 3

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int stack[SIZE], top;

static void *pusher(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        assert(top < SIZE);
        stack[top++] = i;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

static void *popper(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        if (top > 0) {
            top--;
            assert(top >= 0);
        }
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, pusher, 0);
    pthread_create(&t[1], 0, popper, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
