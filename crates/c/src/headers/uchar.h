#pragma once
#include <stddef.h>
#include <wchar.h>
typedef unsigned short char16_t;
typedef unsigned int char32_t;
