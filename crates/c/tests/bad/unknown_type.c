lock_word_t word;
int main(void) { return 0; }
