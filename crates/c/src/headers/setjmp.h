#pragma once
typedef struct { unsigned long __words[8]; } jmp_buf[1];
typedef jmp_buf sigjmp_buf;
int setjmp(jmp_buf);
int _setjmp(jmp_buf);
int sigsetjmp(sigjmp_buf, int);
void longjmp(jmp_buf, int);
void _longjmp(jmp_buf, int);
void siglongjmp(sigjmp_buf, int);
