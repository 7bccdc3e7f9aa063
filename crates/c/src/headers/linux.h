/* Linux style accesses and barriers, as C11 says them. smp_wmb() and smp_rmb() become release and acquire fences, the
   weakest C11 fences that order stores before stores and loads before loads; they order a little more than Linux
   promises. A read-modify-write that returns a value is fully ordered: a fence stands before and after it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic64_t;
typedef atomic64_t atomic_long_t;
#define ATOMIC_INIT(i) { (i) }
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_mb__before_atomic() smp_mb()
#define smp_mb__after_atomic() smp_mb()
#define smp_mb__after_spinlock() smp_mb()
#define smp_acquire__after_ctrl_dep() smp_rmb()
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define smp_store_mb(x, v) do { WRITE_ONCE(x, v); smp_mb(); } while (0)
#define cpu_relax() barrier()
#define smp_cond_load_relaxed(p, e) ({ __typeof__(*(p)) VAL; for (;;) { VAL = READ_ONCE(*(p)); if (e) break; } VAL; })
#define smp_cond_load_acquire(p, e) ({ __typeof__(*(p)) VAL; for (;;) { VAL = smp_load_acquire(p); if (e) break; } VAL; })
#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_CONSUME)
#define rcu_assign_pointer(p, v) smp_store_release(&(p), (v))
#define __fp_full(e) ({ smp_mb(); __auto_type __fp_r = (e); smp_mb(); __fp_r; })
#define xchg_relaxed(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
#define xchg_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define xchg_release(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELEASE)
#define xchg(p, v) __fp_full(xchg_relaxed(p, v))
#define cmpxchg_relaxed(p, o, n) __fp_cmpxchg((p), (o), (n), __ATOMIC_RELAXED)
#define cmpxchg_acquire(p, o, n) __fp_cmpxchg((p), (o), (n), __ATOMIC_ACQUIRE)
#define cmpxchg_release(p, o, n) __fp_cmpxchg((p), (o), (n), __ATOMIC_RELEASE)
#define cmpxchg(p, o, n) __fp_full(cmpxchg_relaxed(p, o, n))
#define try_cmpxchg_relaxed(p, e, n) __atomic_compare_exchange_n((p), (e), (n), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define try_cmpxchg_acquire(p, e, n) __atomic_compare_exchange_n((p), (e), (n), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
#define try_cmpxchg_release(p, e, n) __atomic_compare_exchange_n((p), (e), (n), 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
#define try_cmpxchg(p, e, n) __fp_full(try_cmpxchg_relaxed(p, e, n))
#define atomic_read(a) READ_ONCE((a)->counter)
#define atomic_set(a, v) WRITE_ONCE((a)->counter, (v))
#define atomic_read_acquire(a) smp_load_acquire(&(a)->counter)
#define atomic_set_release(a, v) smp_store_release(&(a)->counter, (v))
#define atomic_add(v, a) ((void)__atomic_fetch_add(&(a)->counter, (v), __ATOMIC_RELAXED))
#define atomic_sub(v, a) ((void)__atomic_fetch_sub(&(a)->counter, (v), __ATOMIC_RELAXED))
#define atomic_inc(a) atomic_add(1, a)
#define atomic_dec(a) atomic_sub(1, a)
#define atomic_add_return_relaxed(v, a) __atomic_add_fetch(&(a)->counter, (v), __ATOMIC_RELAXED)
#define atomic_add_return_acquire(v, a) __atomic_add_fetch(&(a)->counter, (v), __ATOMIC_ACQUIRE)
#define atomic_add_return_release(v, a) __atomic_add_fetch(&(a)->counter, (v), __ATOMIC_RELEASE)
#define atomic_add_return(v, a) __fp_full(atomic_add_return_relaxed(v, a))
#define atomic_sub_return(v, a) __fp_full(__atomic_sub_fetch(&(a)->counter, (v), __ATOMIC_RELAXED))
#define atomic_inc_return(a) atomic_add_return(1, a)
#define atomic_dec_return(a) atomic_sub_return(1, a)
#define atomic_dec_and_test(a) (atomic_sub_return(1, a) == 0)
#define atomic_inc_and_test(a) (atomic_add_return(1, a) == 0)
#define atomic_cmpxchg(a, o, n) cmpxchg(&(a)->counter, o, n)
#define atomic_cmpxchg_relaxed(a, o, n) cmpxchg_relaxed(&(a)->counter, o, n)
#define atomic_cmpxchg_acquire(a, o, n) cmpxchg_acquire(&(a)->counter, o, n)
#define atomic_cmpxchg_release(a, o, n) cmpxchg_release(&(a)->counter, o, n)
#define atomic_xchg(a, v) xchg(&(a)->counter, v)
#define atomic_xchg_relaxed(a, v) xchg_relaxed(&(a)->counter, v)
#define atomic_xchg_acquire(a, v) xchg_acquire(&(a)->counter, v)
#define atomic_xchg_release(a, v) xchg_release(&(a)->counter, v)
#define atomic_fetch_inc(a) __fp_full(__atomic_fetch_add(&(a)->counter, 1, __ATOMIC_RELAXED))
#define atomic_fetch_dec(a) __fp_full(__atomic_fetch_sub(&(a)->counter, 1, __ATOMIC_RELAXED))
#define atomic_fetch_add_relaxed(v, a) __atomic_fetch_add(&(a)->counter, (v), __ATOMIC_RELAXED)
#define atomic_fetch_add_acquire(v, a) __atomic_fetch_add(&(a)->counter, (v), __ATOMIC_ACQUIRE)
#define atomic_fetch_add_release(v, a) __atomic_fetch_add(&(a)->counter, (v), __ATOMIC_RELEASE)
