#pragma once
#include <stddef.h>
int usleep(unsigned);
unsigned sleep(unsigned);
void _exit(int);
int fork(void);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
