enum small { A, B } __attribute__((packed));
int main(void) { return sizeof(enum small); }
