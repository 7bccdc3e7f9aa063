#pragma once
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
typedef unsigned long size_t;
typedef long ssize_t;
typedef long ptrdiff_t;
typedef int wchar_t;
typedef int pid_t;
typedef long off_t;
typedef struct { long __a, __b; } max_align_t;
