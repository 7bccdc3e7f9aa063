#include <assert.h>
#include <pthread.h>
int ready(int); 
volatile int flag; int data;
void *w(void *a) { data = 1; flag = 1; return 0; }
int main(void) { pthread_t t; pthread_create(&t,0,w,0); int v = flag; assert(v >= 0); if (ready(3)) assert(v < 2); pthread_join(t,0); }
