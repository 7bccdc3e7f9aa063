#pragma once
#define __BEGIN_DECLS
#define __END_DECLS
#define __P(args) args
#define __CONCAT(a, b) a##b
#define __STRING(x) #x
#define __THROW
#define __THROWNL
#define __NTH(f) f
#define __nonnull(params)
#define __attribute_pure__
#define __attribute_const__
#define __attribute_malloc__
#define __attribute_used__
#define __attribute_noinline__
#define __attribute_deprecated__
#define __attribute_warn_unused_result__
#define __wur
#define __always_inline inline
#define __glibc_likely(x) (x)
#define __glibc_unlikely(x) (x)
#define __GNUC_PREREQ(major, minor) ((__GNUC__ << 16) + __GNUC_MINOR__ >= ((major) << 16) + (minor))
#define __glibc_has_attribute(x) 0
#define __predict_true(x) (x)
#define __predict_false(x) (x)
