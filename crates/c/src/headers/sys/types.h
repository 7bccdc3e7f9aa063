#pragma once
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if __has_include(<bits/types.h>)
#include <bits/types.h>
#endif
typedef unsigned mode_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned id_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
typedef unsigned long nlink_t;
typedef long blksize_t;
typedef long blkcnt_t;
typedef long suseconds_t;
typedef unsigned useconds_t;
typedef int key_t;
