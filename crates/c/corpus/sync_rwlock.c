/*
 * Read-write locks: a writer and two readers.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=14 tso=14 pso=14 ra=14 rc11=14 rc20=14 power=14 armv8=14
 * why: Readers never see the two variables differ.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int a, b;

static void *writer(void *arg) {
    pthread_rwlock_wrlock(&l);
    a++;
    b++;
    pthread_rwlock_unlock(&l);
    return 0;
}

static void *reader(void *arg) {
    pthread_rwlock_rdlock(&l);
    assert(a == b);
    pthread_rwlock_unlock(&l);
    return 0;
}

int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    pthread_create(&t[2], 0, reader, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
