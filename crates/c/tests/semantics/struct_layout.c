struct a { char c; int i; char d; }; struct b { char c; short s; long l; char e; }; struct n { struct a x; char y; };
struct p { char c; int i; } __attribute__((packed)); struct e { char c; } __attribute__((aligned(16))); union u { char c[5]; int i; };
#include <stddef.h>
void run(void) {
    OUT(sizeof(struct a)); OUT(sizeof(struct b)); OUT(sizeof(struct n)); OUT(sizeof(struct p)); OUT(sizeof(struct e)); OUT(sizeof(union u));
    OUT(offsetof(struct a, i)); OUT(offsetof(struct b, l)); OUT(offsetof(struct n, y)); OUT(offsetof(struct p, i)); OUT(offsetof(struct n, x.d));
    OUT(_Alignof(struct b)); OUT(_Alignof(char)); OUT(_Alignof(struct e)); struct { _Alignas(8) char c; int i; } z; OUT(sizeof z);
    struct f { int n; int rest[]; }; OUT(sizeof(struct f)); OUT(sizeof(struct { char a, b, c; })); OUT(sizeof(long[3])); OUT(sizeof(void *));
}
