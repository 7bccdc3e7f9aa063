/* setjmp and longjmp within a thread. A buffer has the activation that called setjmp and which of its calls that was. Where a
   longjmp may come out of a call, the caller asks behind it whether one is under way, and goes on returning until the
   activation is reached (lower/jumps.rs). */
#include <setjmp.h>
static _Thread_local long *__fp_jump_to;
static _Thread_local int __fp_jump_number, __fp_jump_result;
void __fp_set_jump(unsigned long *buffer, long *activation, int number) {
    *activation = __VERIFIER_tid();
    buffer[0] = (unsigned long)activation;
    buffer[1] = number;
    __fp_jump_result = 0;
}
int __fp_jump_value(void) { return __fp_jump_result; }
long *__fp_jump_target(void) { return __fp_jump_to; }
int __fp_land(void) {
    __fp_jump_to = 0;
    return __fp_jump_number;
}
void longjmp(jmp_buf buffer, int value) {
    unsigned long *words = (unsigned long *)buffer;
    long *activation = (long *)words[0];
    if (*activation != __VERIFIER_tid())
        __fp_fail("longjmp to a function that another thread runs");
    __fp_jump_number = (int)words[1];
    __fp_jump_result = value ? value : 1;
    __fp_jump_to = activation;
}
void _longjmp(jmp_buf buffer, int value) { longjmp(buffer, value); }
void siglongjmp(sigjmp_buf buffer, int value) { longjmp(buffer, value); }
