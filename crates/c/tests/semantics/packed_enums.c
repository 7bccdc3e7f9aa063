enum small { A, B = 255 } __attribute__((packed));
enum sign { C = -1, D = 127 } __attribute__((packed));
enum wider { E = -1, F = 128 } __attribute__((packed));
enum half { G = 256 } __attribute__((__packed__));
struct s { enum small a; enum sign b; enum half c; };
void run(void) {
    struct s s = {B, C, G};
    OUT(sizeof(enum small)); OUT(sizeof(enum sign)); OUT(sizeof(enum wider)); OUT(sizeof(enum half)); OUT(sizeof s);
    OUT(s.a); OUT(s.b); OUT(s.c); OUT(s.a > s.b); OUT(D + F);
}
