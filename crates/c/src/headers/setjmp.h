#pragma once
typedef struct { long __unused[8]; } jmp_buf[1];
typedef jmp_buf sigjmp_buf;
int setjmp(jmp_buf);
void longjmp(jmp_buf, int);
