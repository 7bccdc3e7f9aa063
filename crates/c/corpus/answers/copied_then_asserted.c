/*
 * One byte of a buffer is never written; a copy made byte by byte is compared in an assertion.
 * expect: all=FP0307
 */
#include <assert.h>

int main(void)
{
    char in[3], out[3];
    in[0] = 'a';
    in[2] = 0;
    for (int i = 0; i < 3; i++)
        out[i] = in[i];
    assert(out[0] == 'a');
    assert(out[1] != 'b');
    return 0;
}
