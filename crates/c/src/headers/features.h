#pragma once
#include <sys/cdefs.h>
#define __GLIBC__ 2
#define __GLIBC_MINOR__ 36
#define __GLIBC_PREREQ(major, minor) ((__GLIBC__ << 16) + __GLIBC_MINOR__ >= ((major) << 16) + (minor))
#define __USE_GNU 1
#define __USE_POSIX 1
#define __USE_MISC 1
