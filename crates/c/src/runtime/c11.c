/* The threads of C11 for programs that bring the header of another C library, with its numbers for what went wrong: busy is 1,
   error 2, no memory 3, too late 4. With our header these are macros. */
#include <pthread.h>
int __fp_mtx_recursive(pthread_mutex_t *);
static int __fp_c11(int error) {
    return error == 0 ? 0 : error == 16 ? 1 : error == 12 ? 3 : error == 110 ? 4 : 2;
}
int mtx_init(pthread_mutex_t *m, int type) {
    return type & 1 ? __fp_mtx_recursive(m) : pthread_mutex_init(m, 0);
}
void mtx_destroy(pthread_mutex_t *m) {
    pthread_mutex_destroy(m);
}
int mtx_lock(pthread_mutex_t *m) {
    return __fp_c11(pthread_mutex_lock(m));
}
int mtx_trylock(pthread_mutex_t *m) {
    return __fp_c11(pthread_mutex_trylock(m));
}
int mtx_timedlock(pthread_mutex_t *m, const struct timespec *t) {
    return __fp_c11(pthread_mutex_timedlock(m, t));
}
int mtx_unlock(pthread_mutex_t *m) {
    return __fp_c11(pthread_mutex_unlock(m));
}
int cnd_init(pthread_cond_t *c) {
    return pthread_cond_init(c, 0);
}
void cnd_destroy(pthread_cond_t *c) {
    pthread_cond_destroy(c);
}
int cnd_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    return pthread_cond_wait(c, m);
}
int cnd_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
    return __fp_c11(pthread_cond_timedwait(c, m, t));
}
int cnd_signal(pthread_cond_t *c) {
    return pthread_cond_signal(c);
}
int cnd_broadcast(pthread_cond_t *c) {
    return pthread_cond_broadcast(c);
}
void call_once(pthread_once_t *o, void (*f)(void)) {
    pthread_once(o, f);
}
int tss_create(pthread_key_t *k, void (*d)(void *)) {
    return __fp_c11(pthread_key_create(k, d));
}
void tss_delete(pthread_key_t k) {
    pthread_key_delete(k);
}
void *tss_get(pthread_key_t k) {
    return pthread_getspecific(k);
}
int tss_set(pthread_key_t k, void *v) {
    return __fp_c11(pthread_setspecific(k, v));
}
