/*
 * A loop marked as waiting, with inline assembly fences.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The store fence keeps the two stores in order, but nothing keeps the loads in order on POWER and ARMv8,
 *      and the plain variable races in RC11; RA makes the flag release and acquire.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static atomic_int flag;
static int data;

static void *writer(void *arg) {
    data = 1;
    __asm__ volatile("sfence" ::: "memory");
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}

static void *reader(void *arg) {
    await_while (!atomic_load_explicit(&flag, memory_order_relaxed)) {
    }
    assert(data == 1);
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
