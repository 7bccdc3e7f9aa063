/*
 * A union is initialised by its short member, copied as a whole, and sent to another thread.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=2 tso=2 pso=2 ra=2 rc11=2 rc20=2 power=2 armv8=2
 * why: Bytes behind the member may be copied; only the member is read.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct value {
    int tag;
    union {
        const char *text;
        struct {
            short a, b;
        } pair;
    } u;
};

static struct value *box;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sender(void *unused) {
    struct value *v = malloc(sizeof *v);
    *v = (struct value){.tag = 1, .u.pair = {1, 2}};
    pthread_mutex_lock(&lock);
    box = v;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    pthread_mutex_lock(&lock);
    struct value *v = box;
    pthread_mutex_unlock(&lock);
    if (v) {
        struct value copy = *v;
        assert(copy.tag == 1 && copy.u.pair.a + copy.u.pair.b == 3);
    }
    pthread_join(thread, 0);
    free(box);
    return 0;
}
