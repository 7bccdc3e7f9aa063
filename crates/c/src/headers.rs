//! The built-in headers and runtime modules: text that is part of the program's own source.

/// Macros that are defined before anything is read.
pub const PREDEFINED: &str = include_str!("headers/predefined.h");

const HEADERS: &[(&str, &str)] = &[
    ("assert.h", include_str!("headers/assert.h")),
    ("errno.h", include_str!("headers/errno.h")),
    ("dat3m.h", include_str!("headers/verifier.h")),
    ("emmintrin.h", include_str!("headers/immintrin.h")),
    ("genmc.h", include_str!("headers/verifier.h")),
    ("immintrin.h", include_str!("headers/immintrin.h")),
    ("inttypes.h", include_str!("headers/inttypes.h")),
    ("limits.h", include_str!("headers/limits.h")),
    ("linux.h", include_str!("headers/linux.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("sched.h", include_str!("headers/sched.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("stdalign.h", include_str!("headers/stdalign.h")),
    ("stdarg.h", include_str!("headers/stdarg.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("stdbool.h", include_str!("headers/stdbool.h")),
    ("stddef.h", include_str!("headers/stddef.h")),
    ("stdint.h", include_str!("headers/stdint.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("stdnoreturn.h", include_str!("headers/stdnoreturn.h")),
    ("string.h", include_str!("headers/string.h")),
    ("sys/types.h", include_str!("headers/stddef.h")),
    ("threads.h", include_str!("headers/threads.h")),
    ("time.h", include_str!("headers/time.h")),
    ("x86intrin.h", include_str!("headers/immintrin.h")),
    ("unistd.h", include_str!("headers/unistd.h")),
];

/// The text of a built-in header.
pub fn find(name: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The names of the built-in headers.
pub fn names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|(name, _)| *name)
}

/// The header that declares a name, for hints.
pub fn header_of(name: &str) -> Option<&'static str> {
    let prefixes = [
        ("pthread_", "pthread.h"),
        ("PTHREAD_", "pthread.h"),
        ("atomic_", "stdatomic.h"),
        ("memory_order", "stdatomic.h"),
        ("ATOMIC_", "stdatomic.h"),
        ("thrd_", "threads.h"),
        ("mtx_", "threads.h"),
        ("cnd_", "threads.h"),
        ("tss_", "threads.h"),
        ("sem_", "semaphore.h"),
        ("smp_", "linux.h"),
        ("cmpxchg", "linux.h"),
        ("xchg", "linux.h"),
        ("mem", "string.h"),
        ("str", "string.h"),
    ];
    let words = [
        ("assert", "assert.h"),
        ("READ_ONCE", "linux.h"),
        ("WRITE_ONCE", "linux.h"),
        ("NULL", "stddef.h"),
        ("size_t", "stddef.h"),
        ("bool", "stdbool.h"),
        ("true", "stdbool.h"),
        ("false", "stdbool.h"),
        ("malloc", "stdlib.h"),
        ("calloc", "stdlib.h"),
        ("realloc", "stdlib.h"),
        ("free", "stdlib.h"),
        ("abort", "stdlib.h"),
        ("exit", "stdlib.h"),
        ("printf", "stdio.h"),
        ("fprintf", "stdio.h"),
        ("puts", "stdio.h"),
        ("usleep", "unistd.h"),
        ("sleep", "unistd.h"),
        ("sched_yield", "sched.h"),
        ("INT_MAX", "limits.h"),
    ];
    words
        .iter()
        .find(|(word, _)| *word == name)
        .or_else(|| prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)))
        .map(|(_, header)| *header)
}

/// Runtime modules: name, text, and the functions that they define.
const MODULES: &[(&str, &str, &[&str])] = &[
    (
        "runtime/rwlock.c",
        include_str!("runtime/rwlock.c"),
        &[
            "pthread_rwlock_init",
            "pthread_rwlock_destroy",
            "pthread_rwlock_rdlock",
            "pthread_rwlock_tryrdlock",
            "pthread_rwlock_wrlock",
            "pthread_rwlock_trywrlock",
            "pthread_rwlock_unlock",
            "pthread_rwlock_timedrdlock",
            "pthread_rwlock_timedwrlock",
        ],
    ),
    (
        "runtime/cond.c",
        include_str!("runtime/cond.c"),
        &[
            "pthread_cond_init",
            "pthread_cond_destroy",
            "pthread_cond_wait",
            "pthread_cond_timedwait",
            "pthread_cond_signal",
            "pthread_cond_broadcast",
        ],
    ),
    (
        "runtime/barrier.c",
        include_str!("runtime/barrier.c"),
        &["pthread_barrier_init", "pthread_barrier_destroy", "pthread_barrier_wait"],
    ),
    (
        "runtime/semaphore.c",
        include_str!("runtime/semaphore.c"),
        &["sem_init", "sem_destroy", "sem_wait", "sem_trywait", "sem_timedwait", "sem_post", "sem_getvalue"],
    ),
    (
        "runtime/attributes.c",
        include_str!("runtime/attributes.c"),
        &["pthread_attr_init", "pthread_attr_setdetachstate", "pthread_attr_getdetachstate"],
    ),
    ("runtime/timed.c", include_str!("runtime/timed.c"), &["pthread_mutex_timedlock"]),
    ("runtime/once.c", include_str!("runtime/once.c"), &["pthread_once"]),
    (
        "runtime/keys.c",
        include_str!("runtime/keys.c"),
        &["pthread_key_create", "pthread_key_delete", "pthread_getspecific", "pthread_setspecific"],
    ),
    (
        "runtime/string.c",
        include_str!("runtime/string.c"),
        &["strlen", "strcmp", "strncmp", "strcpy", "strncpy", "strcat", "strchr", "abs", "labs"],
    ),
];

const BITS: (&str, &str) = ("runtime/bits.c", include_str!("runtime/bits.c"));

/// What is kept of threads in programs that detach them, or join them in several places.
pub const THREADS: (&str, &str) = ("runtime/threads.c", include_str!("runtime/threads.c"));

const MUTEX_KINDS: (&str, &str) = ("runtime/mutex.c", include_str!("runtime/mutex.c"));

/// Using this function means that not all mutexes are plain ones.
pub fn selects_mutex_kinds(name: &str) -> bool {
    matches!(name, "pthread_mutexattr_settype" | "pthread_mutexattr_gettype" | "__fp_mtx_recursive")
}

/// The module that defines a function. Mutexes are plain cells unless the program chooses other kinds.
pub fn module_of(name: &str, mutex_kinds: bool) -> Option<(&'static str, &'static str)> {
    let mutex = matches!(
        name,
        "pthread_mutexattr_settype"
            | "pthread_mutexattr_gettype"
            | "pthread_mutexattr_init"
            | "pthread_mutex_timedlock"
            | "__fp_mtx_recursive"
            | "pthread_mutex_init"
            | "pthread_mutex_destroy"
            | "pthread_mutex_lock"
            | "pthread_mutex_trylock"
            | "pthread_mutex_unlock"
    );
    if mutex && mutex_kinds {
        return Some(MUTEX_KINDS);
    }
    if name.starts_with("__builtin_") {
        return Some(BITS);
    }
    MODULES
        .iter()
        .find(|(_, _, functions)| functions.contains(&name))
        .map(|(module, text, _)| (*module, *text))
}
