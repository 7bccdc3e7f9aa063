#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdint.h>
struct lock { unsigned int owner; unsigned int unused; unsigned char readers[8]; };
struct lock l;
int data;
static void read_lock(int slot) {
    if (__atomic_load_n(&l.owner, __ATOMIC_RELAXED) == slot) { l.readers[0]++; return; }
    for (;;) {
        __atomic_store_n(&l.readers[slot-1], 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&l.owner, __ATOMIC_RELAXED) == 0) break;
        __atomic_store_n(&l.readers[slot-1], 0, __ATOMIC_RELAXED);
        while (__atomic_load_n(&l.owner, __ATOMIC_RELAXED) != 0);
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
static void read_unlock(int slot) { __atomic_thread_fence(__ATOMIC_RELEASE); __atomic_store_n(&l.readers[slot-1], 0, __ATOMIC_RELAXED); }
static void write_lock(int slot) {
    uint64_t *r = (void*)l.readers;
    unsigned z;
    do { z = 0; } while (!__atomic_compare_exchange_n(&l.owner, &z, slot, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    if (slot <= 8) __atomic_store_n(&l.readers[slot-1], 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    while (__atomic_load_n(r, __ATOMIC_RELAXED) != 0) ;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
static void write_unlock(void) { __atomic_store_n(&l.owner, 0, __ATOMIC_RELEASE); }
void *reader(void *a) { int s = (int)(long)a; read_lock(s); int v = data; (void)v; read_unlock(s); write_lock(s); data++; write_unlock(); return 0; }
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, reader, (void *)(i+1));
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(data == 2);
}
