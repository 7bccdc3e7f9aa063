/*
 * Two threads claim slots of a hash table for keys of any value; different keys never share a slot.
 * expect: safe
 */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);

#define SLOTS 4
static atomic_uint table[SLOTS];
static unsigned keys[2];
static int where[2];

static unsigned hash(unsigned key) {
    key ^= key >> 16;
    key *= 0x45d9f3bu;
    key ^= key >> 8;
    return key % SLOTS;
}

static void *insert(void *arg) {
    int me = (int)(long)arg;
    unsigned slot = hash(keys[me]);
    for (int i = 0; i < 2; i++) {
        unsigned empty = 0;
        if (atomic_compare_exchange_strong(&table[slot], &empty, keys[me])) {
            where[me] = (int)slot;
            return 0;
        }
        slot = (slot + 1) % SLOTS;
    }
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        keys[i] = __VERIFIER_nondet_uint();
        __VERIFIER_assume(keys[i] != 0);
        where[i] = -1;
    }
    __VERIFIER_assume(keys[0] != keys[1]);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, insert, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(where[0] >= 0 && where[1] >= 0);
    assert(where[0] != where[1]);
    assert(table[where[0]] == keys[0] && table[where[1]] == keys[1]);
    return 0;
}
