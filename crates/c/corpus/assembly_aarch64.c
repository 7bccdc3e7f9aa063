/*
 * Each instruction of AArch64 that the front end knows, once, by one thread.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The results are those of the manual.
 */
#include <assert.h>

static unsigned word = 7;
static unsigned long wide = 0x100000002;
static unsigned char byte = 0xf0;

int main(void) {
    unsigned a, b, c;
    unsigned long x, y;
    __asm__("ldr %w0, %1" : "=r"(a) : "m"(word));
    __asm__("ldar %w0, [%1]" : "=r"(b) : "r"(&word));
    __asm__("ldapr %0, [%1]" : "=r"(x) : "r"(&wide));
    assert(a == 7 && b == 7 && x == 0x100000002);
    __asm__("ldrb %w0, %1" : "=r"(a) : "Q"(byte));
    __asm__ volatile("strb %w1, [%0]\n\tldr %2, [%3, #0]" : : "r"(&byte), "r"(0x1ff), "r"(x), "r"(&wide));
    assert(a == 0xf0 && byte == 0xff);
    __asm__ volatile("str %w1, %0" : "=m"(word) : "r"(9));
    __asm__ volatile("stlr %1, [%0]" : : "r"(&wide), "r"(5ul) : "memory");
    assert(word == 9 && wide == 5);
    /* 32 bits clear the upper half of a register, and a mask is inverted. */
    __asm__("mov %w0, #-1\n add %1, %0, #1" : "=&r"(x), "=r"(y));
    assert(x == 0xffffffff && y == 0x100000000);
    __asm__("sub %w0, %w1, %w2\n and %w0, %w0, #12\n orr %w0, %w0, #1\n eor %w0, %w0, #3" : "=&r"(a) : "r"(20), "r"(5));
    assert(a == (((20 - 5) & 12) | 1) ^ 3);
    __asm__("bic %w0, %w1, %w2\n lsl %w0, %w0, #4\n lsr %w0, %w0, #1" : "=&r"(a) : "r"(15), "r"(5));
    assert(a == 80);
    __asm__("mvn %w0, wzr\n cmp %w0, #0\n cset %w1, ne\n csel %w2, %w0, wzr, lo" : "=&r"(a), "=&r"(b), "=&r"(c) : : "cc");
    assert(a == 0xffffffff && b == 1 && c == 0);
    __asm__("mov %w0, #3\n1: sub %w0, %w0, #1\n cbnz %w0, 1b\n tbz %w0, #0, 2f\n mov %w0, #9\n2:" : "=&r"(a));
    assert(a == 0);
    __asm__("cmp %w1, %w2\n b.eq 1f\n mov %w0, #1\n b 2f\n1: mov %w0, #2\n2:" : "=&r"(a) : "r"(4), "r"(4) : "cc");
    assert(a == 2);
    __asm__("mov x9, %1\n add %0, x9, #1" : "=r"(x) : "r"(6ul) : "x9");
    assert(x == 7);
    /* Exclusives: without a load there is no reservation. */
    __asm__ volatile("1: ldaxr %w0, [%2]\n add %w1, %w0, #1\n stlxr w10, %w1, [%2]\n cbnz w10, 1b"
                     : "=&r"(a), "=&r"(b) : "r"(&word) : "memory", "x10");
    assert(a == 9 && b == 10 && word == 10);
    __asm__ volatile("stxr %w0, %w1, [%2]" : "=&r"(a) : "r"(77), "r"(&word) : "memory");
    assert(a == 1 && word == 10);
    /* The atomic instructions of LSE. */
    __asm__ volatile("ldadd %w1, %w0, %2" : "=r"(a), "+r"(b), "+Q"(word));
    assert(a == 10 && word == 20);
    __asm__ volatile("ldclral %w1, %w0, [%2]" : "=&r"(a) : "r"(4), "r"(&word) : "memory");
    assert(a == 20 && word == 16);
    __asm__ volatile("ldseta %w1, %w0, [%2]" : "=&r"(a) : "r"(3), "r"(&word) : "memory");
    __asm__ volatile("steorl %w1, [%0]" : : "r"(&word), "r"(1) : "memory");
    assert(a == 16 && word == 18);
    __asm__ volatile("swpl %w1, %w0, [%2]" : "=&r"(a) : "r"(40), "r"(&word) : "memory");
    assert(a == 18 && word == 40);
    a = 40;
    __asm__ volatile("casal %w0, %w1, [%2]" : "+r"(a) : "r"(41), "r"(&word) : "memory");
    assert(a == 40 && word == 41);
    a = 40;
    __asm__ volatile("cas %w0, %w1, [%2]" : "+r"(a) : "r"(42), "r"(&word) : "memory");
    assert(a == 41 && word == 41);
    return 0;
}
