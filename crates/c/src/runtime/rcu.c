/* Read-copy-update with a mutex for writers and a word per thread for readers. A reader publishes that it is in a section, a
   full fence stands between that and what it reads; synchronize_rcu waits, between two full fences, until every thread that it
   finds in a section has left it. */
static unsigned long __fp_readers[64];
static unsigned __fp_nesting_of[64];
static unsigned __fp_reader_count;
void __fp_rcu_lock(void) {
    unsigned me = __VERIFIER_tid() & 63;
    if (__fp_nesting_of[me]++ == 0) {
        if (__atomic_load_n(&__fp_reader_count, __ATOMIC_RELAXED) <= me)
            __sync_fetch_and_umax(&__fp_reader_count, me + 1);
        unsigned long round = __atomic_load_n(&__fp_readers[me], __ATOMIC_RELAXED) + 1;
        __atomic_store_n(&__fp_readers[me], round, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}
void __fp_rcu_unlock(void) {
    unsigned me = __VERIFIER_tid() & 63;
    if (__fp_nesting_of[me] == 0)
        __fp_fail("rcu_read_unlock without rcu_read_lock");
    if (--__fp_nesting_of[me] == 0) {
        unsigned long round = __atomic_load_n(&__fp_readers[me], __ATOMIC_RELAXED) + 1;
        __atomic_store_n(&__fp_readers[me], round, __ATOMIC_RELEASE);
    }
}
void __fp_synchronize_rcu(void) {
    if (__fp_nesting_of[__VERIFIER_tid() & 63])
        __fp_fail("synchronize_rcu in a read-side section");
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    unsigned count = __atomic_load_n(&__fp_reader_count, __ATOMIC_RELAXED);
    for (unsigned t = 0; t < count; t++) {
        unsigned long round = __atomic_load_n(&__fp_readers[t], __ATOMIC_ACQUIRE);
        if (round & 1)
            __fp_await(&__fp_readers[t], "!=", round, __ATOMIC_ACQUIRE);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
