#pragma once
typedef __builtin_va_list va_list;
typedef __builtin_va_list __gnuc_va_list;
#define va_start(list, ...) ((void)((list)->__p = __builtin_fp_varargs()))
#define va_end(list) ((void)(list))
#define va_copy(to, from) ((void)((to)->__p = (from)->__p))
#define __va_copy(to, from) va_copy(to, from)
#define va_arg(list, type) __builtin_va_arg(list, type)
