#include <pthread.h>
int main(void) {
    return pthread_cancel(pthread_self());
}
