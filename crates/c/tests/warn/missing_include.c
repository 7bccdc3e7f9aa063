int main(void) {
    pthread_t t;
    return 0;
}
