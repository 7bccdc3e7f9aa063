/*
 * Each instruction of POWER that the front end knows, once, by one thread.
 * expect: sc=safe tso=safe pso=safe ra=safe rc11=safe power=safe armv8=safe
 * count: sc=1 tso=1 pso=1 ra=1 rc11=1 rc20=1 power=1 armv8=1
 * why: The results are those of the manual.
 */
#include <assert.h>

static unsigned word = 7;
static unsigned long wide = 0x100000002;
static unsigned char byte = 0xf0;

int main(void) {
    unsigned a, b;
    unsigned long x;
    __asm__("lwz%U1%X1 %0,%1" : "=r"(a) : "m"(word));
    __asm__("ld %0,0(%1)" : "=r"(x) : "b"(&wide));
    __asm__("lbz %0,0(%1)" : "=r"(b) : "b"(&byte));
    assert(a == 7 && x == 0x100000002 && b == 0xf0);
    __asm__ volatile("stw%U0%X0 %1,%0" : "=m"(word) : "r"(9));
    __asm__ volatile("std %1,0(%0)\n stb %1,0(%2)" : : "b"(&wide), "r"(0x1fful), "b"(&byte) : "memory");
    assert(word == 9 && wide == 0x1ff && byte == 0xff);
    __asm__("li %0,20\n addi %0,%0,-5\n ori %0,%0,16\n mr %1,%0" : "=&r"(a), "=r"(b));
    assert(a == 31 && b == 31);
    /* subf takes the first from the second; andc inverts the second. */
    __asm__("subf %0,%1,%2" : "=r"(a) : "r"(3), "r"(10));
    __asm__("andc %0,%1,%2\n xor %0,%0,%2" : "=&r"(b) : "r"(15), "r"(5));
    assert(a == 7 && b == 15);
    __asm__("li %0,3\n1: addic. %0,%0,-1\n bne 1b" : "=&r"(a) : : "cr0");
    assert(a == 0);
    __asm__("cmpw 0,%1,%2\n beq 1f\n li %0,1\n b 2f\n1: li %0,2\n2:" : "=&r"(a) : "r"(4), "r"(4) : "cr0");
    assert(a == 2);
    __asm__("mr 9,%1\n addi %0,9,1" : "=r"(x) : "r"(6ul) : "r9");
    assert(x == 7);
    /* Reservations: without one nothing is stored. */
    __asm__ volatile("1: lwarx %0,0,%2\n addi %1,%0,1\n stwcx. %1,0,%2\n bne- 1b" : "=&r"(a), "=&r"(b) : "r"(&word) : "memory", "cr0");
    assert(a == 9 && b == 10 && word == 10);
    __asm__ volatile("stwcx. %1,0,%2\n li %0,0\n bne- 1f\n li %0,1\n1:" : "=&r"(a) : "r"(77), "r"(&word) : "memory", "cr0");
    assert(a == 0 && word == 10);
    __asm__ volatile("1: ldarx %0,%y1\n stdcx. %2,%y1\n bne- 1b" : "=&r"(x), "+Z"(wide) : "r"(5ul) : "memory", "cr0");
    assert(x == 0x1ff && wide == 5);
    return 0;
}
