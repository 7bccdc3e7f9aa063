/*
 * A message is packed into bytes by one thread and read as a structure by another, under a lock.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: The lock orders the accesses, and the bytes are those of the structure.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct message {
    uint16_t kind, length;
    uint32_t number;
};

static unsigned char wire[8];
static int sent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sender(void *unused) {
    struct message m = {1, 8, 42};
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < sizeof m; i++)
        wire[i] = ((unsigned char *)&m)[i];
    sent = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *receiver(void *unused) {
    pthread_mutex_lock(&lock);
    if (sent) {
        const struct message *m = (const void *)wire;
        assert(m->kind == 1 && m->length == 8 && m->number == 42);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, sender, 0);
    pthread_create(&b, 0, receiver, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
