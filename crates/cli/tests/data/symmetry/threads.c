/* Four threads that are the same; what is defined says how they are started, and what can tell them apart. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 4

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int x;
int y;
pthread_t shared[N];

void *run(void *a)
{
    pthread_mutex_lock(&m);
    y++;
    pthread_mutex_unlock(&m);
#ifdef SELF
    if (pthread_equal(pthread_self(), *(pthread_t *)a))
        atomic_fetch_add(&x, 1);
#endif
    atomic_fetch_add(&x, 1);
    return 0;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) {
#if defined GIVEN
        t[i] = __VERIFIER_spawn_symmetric(run, 0);
#elif defined ARGUMENTS
        pthread_create(&t[i], 0, run, (void *)(long)i);
#elif defined SELF
        pthread_create(&t[i], 0, run, shared);
#else
        pthread_create(&t[i], 0, run, 0);
#endif
#ifdef SHARED
        shared[i] = t[i];
#endif
#ifdef BETWEEN_STARTS
        atomic_fetch_add(&x, 1);
#endif
    }
    for (int i = 0; i < N; i++) {
#ifndef SOME
        pthread_join(t[i], 0);
#else
        if (i != 2)
            pthread_join(t[i], 0);
#endif
#ifdef BETWEEN_JOINS
        assert(atomic_load(&x) >= i + 1);
#endif
    }
#ifndef SOME
    assert(y == N);
#endif
#ifdef WRONG
    assert(x != N);
#endif
    return 0;
}
