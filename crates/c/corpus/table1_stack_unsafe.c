/*
 * A stack under a lock whose popper does not look: a reconstruction of a program of paper 001, Table 1.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=5 tso=5 pso=5 ra=5 rc11=5 power=5 armv8=5
 * why: The popper may come first and take from the empty stack.
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
        {
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
