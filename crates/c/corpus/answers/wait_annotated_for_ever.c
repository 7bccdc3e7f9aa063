/*
 * An annotated waiting loop whose condition never comes.
 * expect: all=FP0401
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);

atomic_int f;

void *t0(void *a)
{
    int rounds = 0, o;
    for (__VERIFIER_loop_begin();
         (__VERIFIER_spin_start(), (o = atomic_load(&f)) != 7) ? 1 : (__VERIFIER_spin_end(1), 0);
         __VERIFIER_spin_end(0))
        rounds++;
    return rounds ? a : 0;
}

void *t1(void *a) { f = 1; f = 2; return 0; }

int main(void) { pthread_t p, q; pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0); pthread_join(p, 0); pthread_join(q, 0); return 0; }
