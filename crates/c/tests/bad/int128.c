__int128 big;
int main(void) { return 0; }
