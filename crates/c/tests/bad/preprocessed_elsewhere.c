typedef union { char size[48]; long align; } pthread_cond_t;
typedef union { char size[40]; long align; } pthread_mutex_t;
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
pthread_cond_t c;
pthread_mutex_t m;
int main(void) {
    pthread_cond_wait(&c, &m);
    return 0;
}
