/*
 * Slots by hash alone, without looking for a free one: two keys that collide overwrite each other.
 * expect: unsafe
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);

static atomic_uint table[8];
static unsigned keys[2];

static unsigned hash(unsigned key) {
    key ^= key >> 4;
    key *= 2654435761u;
    return key >> 29;
}

static void *insert(void *arg) {
    int me = (int)(long)arg;
    atomic_store(&table[hash(keys[me])], keys[me]);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        keys[i] = __VERIFIER_nondet_uint();
    __VERIFIER_assume(keys[0] != keys[1] && keys[0] != 0 && keys[1] != 0);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, insert, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(table[hash(keys[0])] == keys[0]);
    return 0;
}
