pthread_mutex_t m;
int main(void) { return 0; }
