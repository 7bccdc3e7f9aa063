#pragma once
#include <stddef.h>
typedef unsigned mode_t;
int mkdir(const char *, mode_t);
int chmod(const char *, mode_t);
