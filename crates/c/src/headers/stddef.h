#pragma once
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
typedef unsigned long size_t;
typedef long ssize_t;
typedef long ptrdiff_t;
typedef int wchar_t;
typedef int pid_t;
typedef long off_t;
typedef long off64_t;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
typedef unsigned char u_int8_t;
typedef unsigned short u_int16_t;
typedef unsigned int u_int32_t;
typedef unsigned long u_int64_t;
typedef char *caddr_t;
typedef struct { long __a, __b; } max_align_t;
