#pragma once
#include <pthread.h>
typedef pthread_t thrd_t;
typedef int (*thrd_start_t)(void *);
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_once_t once_flag;
typedef pthread_key_t tss_t;
typedef void (*tss_dtor_t)(void *);
#define thread_local _Thread_local
#define ONCE_FLAG_INIT 0
enum { thrd_success = 0, thrd_busy = 16, thrd_error = 1, thrd_nomem = 12, thrd_timedout = 110 };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 4 };
int thrd_create(thrd_t *, thrd_start_t, void *);
int thrd_join(thrd_t, int *);
void thrd_exit(int);
thrd_t thrd_current(void);
int thrd_equal(thrd_t, thrd_t);
int thrd_detach(thrd_t);
void thrd_yield(void);
int thrd_sleep(const struct timespec *, struct timespec *);
#define mtx_init(m, type) __builtin_choose_expr((type) & mtx_recursive, __fp_mtx_recursive(m), pthread_mutex_init((m), 0))
int __fp_mtx_recursive(mtx_t *);
#define mtx_destroy(m) ((void)pthread_mutex_destroy(m))
#define mtx_lock(m) pthread_mutex_lock(m)
#define mtx_trylock(m) pthread_mutex_trylock(m)
#define mtx_unlock(m) pthread_mutex_unlock(m)
#define cnd_init(c) pthread_cond_init((c), 0)
#define cnd_destroy(c) ((void)pthread_cond_destroy(c))
#define cnd_wait(c, m) pthread_cond_wait((c), (m))
#define cnd_timedwait(c, m, t) pthread_cond_timedwait((c), (m), (t))
#define mtx_timedlock(m, t) pthread_mutex_timedlock((m), (t))
#define cnd_signal(c) pthread_cond_signal(c)
#define cnd_broadcast(c) pthread_cond_broadcast(c)
#define call_once(f, g) ((void)pthread_once((f), (g)))
#define tss_create(k, d) pthread_key_create((k), (d))
#define tss_delete(k) ((void)pthread_key_delete(k))
#define tss_get(k) pthread_getspecific(k)
#define tss_set(k, v) pthread_setspecific((k), (v))
