/* What sequentialisers of the CSeq family call the verifier's functions, and the accesses of PS2SC: known where they are used. */
#pragma once
#define __CSEQ_assume(condition) __CPROVER_assume(condition)
#define __CSEQ_assert(condition) __CPROVER_assert(condition, #condition)
#define __CSEQ_atomic_begin() __CPROVER_atomic_begin()
#define __CSEQ_atomic_end() __CPROVER_atomic_end()
#define __CSEQ_nondet_int() __VERIFIER_nondet_int()
#define __CSEQ_nondet_uint() __VERIFIER_nondet_uint()
#define __CSEQ_nondet_bool() __VERIFIER_nondet_bool()
#define rlx_read_ps(x, into) ((into) = __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define rlx_write_ps(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELAXED)
#define ra_read_ps(x, into) ((into) = __atomic_load_n(&(x), __ATOMIC_ACQUIRE))
#define ra_write_ps(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELEASE)
/* A compare-exchange that fails ends the run, as it does there. */
#define cas_ps(x, expected, value)                                                                            \
  do {                                                                                                        \
    __typeof__(x) __cas_ps_expected = (expected);                                                             \
    __CPROVER_assume(__atomic_compare_exchange_n(&(x), &__cas_ps_expected, (value), 0, __ATOMIC_RELAXED,      \
                                                 __ATOMIC_RELAXED));                                          \
  } while (0)
#define sc_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
