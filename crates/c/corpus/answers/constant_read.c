/*
 * Constants are read by two threads, and copies of them are written.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static const int table[2] = { 1, 2 };

static void *worker(void *arg)
{
    char copy[3];
    (void)arg;
    strcpy(copy, "ab");
    copy[0] = 'c';
    assert(copy[1] == 'b' && table[1] == 2);
    return 0;
}

int main(void)
{
    char text[] = "xy";
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    text[1] = 'z';
    pthread_join(t, 0);
    assert(text[1] == 'z');
    return 0;
}
