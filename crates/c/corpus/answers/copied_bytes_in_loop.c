/*
 * A buffer that is written in part is copied byte by byte through a variable, and handed to another thread, which
 * looks at the written part only.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>

static unsigned char out[4];

static void *reader(void *arg)
{
    (void)arg;
    assert(out[1] == 9);
    return 0;
}

int main(void)
{
    unsigned char in[4];
    pthread_t t;
    in[1] = 9;
    for (int i = 0; i < 4; i++) {
        unsigned char byte = in[i];
        out[i] = byte;
    }
    pthread_create(&t, 0, reader, 0);
    pthread_join(t, 0);
    return 0;
}
