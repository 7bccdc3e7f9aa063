#pragma once
#include <stddef.h>
typedef unsigned wint_t;
#define WEOF 0xffffffffu
