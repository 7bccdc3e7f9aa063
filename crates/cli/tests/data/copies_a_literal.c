#include <pthread.h>
#include <string.h>
#include <assert.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
char buffer[32];
void *w(void *a) { pthread_mutex_lock(&m); strcpy(buffer, "twenty characters :)"); pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t t, u; pthread_create(&t,0,w,0); pthread_create(&u,0,w,0); pthread_join(t,0); pthread_join(u,0); assert(strlen(buffer) == 20); }
