#pragma once
#include <stddef.h>
pid_t wait(int *);
pid_t waitpid(pid_t, int *, int);
