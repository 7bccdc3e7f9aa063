//! The built-in headers and runtime modules: text that is part of the program's own source.

/// Macros that are defined before anything is read.
pub const PREDEFINED: &str = include_str!("headers/predefined.h");

const HEADERS: &[(&str, &str)] = &[
    ("assert.h", include_str!("headers/assert.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("string.h", include_str!("headers/string.h")),
    ("stddef.h", include_str!("headers/stddef.h")),
    ("stdint.h", include_str!("headers/stdint.h")),
    ("stdbool.h", include_str!("headers/stdbool.h")),
    ("uchar.h", include_str!("headers/uchar.h")),
    ("unistd.h", include_str!("headers/unistd.h")),
    ("alloca.h", include_str!("headers/alloca.h")),
    ("arpa/inet.h", include_str!("headers/endian.h")),
    ("asm/types.h", include_str!("headers/stdint.h")),
    ("byteswap.h", include_str!("headers/byteswap.h")),
    ("cseq.h", include_str!("headers/cseq.h")),
    ("ctype.h", include_str!("headers/ctype.h")),
    ("dat3m.h", include_str!("headers/verifier.h")),
    ("emmintrin.h", include_str!("headers/immintrin.h")),
    ("endian.h", include_str!("headers/endian.h")),
    ("errno.h", include_str!("headers/errno.h")),
    ("fcntl.h", include_str!("headers/fcntl.h")),
    ("features.h", include_str!("headers/features.h")),
    ("float.h", include_str!("headers/float.h")),
    ("genmc.h", include_str!("headers/verifier.h")),
    ("gnu/stubs.h", include_str!("headers/gnu/stubs.h")),
    ("immintrin.h", include_str!("headers/immintrin.h")),
    ("inttypes.h", include_str!("headers/inttypes.h")),
    ("iso646.h", include_str!("headers/iso646.h")),
    ("limits.h", include_str!("headers/limits.h")),
    ("linux.h", include_str!("headers/linux.h")),
    ("linux/futex.h", include_str!("headers/linux/futex.h")),
    ("linux/types.h", include_str!("headers/stdint.h")),
    ("locale.h", include_str!("headers/locale.h")),
    ("malloc.h", include_str!("headers/malloc.h")),
    ("math.h", include_str!("headers/math.h")),
    ("memory.h", include_str!("headers/string.h")),
    ("netinet/in.h", include_str!("headers/endian.h")),
    ("nidhugg.h", include_str!("headers/verifier.h")),
    ("sched.h", include_str!("headers/sched.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("setjmp.h", include_str!("headers/setjmp.h")),
    ("signal.h", include_str!("headers/signal.h")),
    ("stdalign.h", include_str!("headers/stdalign.h")),
    ("stdarg.h", include_str!("headers/stdarg.h")),
    ("stdnoreturn.h", include_str!("headers/stdnoreturn.h")),
    ("strings.h", include_str!("headers/strings.h")),
    ("sys/cdefs.h", include_str!("headers/sys/cdefs.h")),
    ("sys/endian.h", include_str!("headers/endian.h")),
    ("sys/errno.h", include_str!("headers/errno.h")),
    ("sys/fcntl.h", include_str!("headers/fcntl.h")),
    ("sys/mman.h", include_str!("headers/sys/mman.h")),
    ("sys/param.h", include_str!("headers/sys/types.h")),
    ("sys/random.h", include_str!("headers/sys/random.h")),
    ("sys/signal.h", include_str!("headers/signal.h")),
    (C23, include_str!("headers/c23.h")),
    ("sys/stat.h", include_str!("headers/sys/stat.h")),
    ("sys/syscall.h", include_str!("headers/sys/syscall.h")),
    ("sys/time.h", include_str!("headers/sys/time.h")),
    ("sys/types.h", include_str!("headers/sys/types.h")),
    ("sys/wait.h", include_str!("headers/sys/wait.h")),
    ("syscall.h", include_str!("headers/sys/syscall.h")),
    ("threads.h", include_str!("headers/threads.h")),
    ("time.h", include_str!("headers/time.h")),
    ("wchar.h", include_str!("headers/wchar.h")),
    ("x86intrin.h", include_str!("headers/immintrin.h")),
    ("xmmintrin.h", include_str!("headers/immintrin.h")),
];

/// The words of C23 that C17 has not, as a header that is read where they are used; programs may have names of their own like
/// that.
pub const C23: &str = "c23.h";

/// Headers that nobody writes: what they declare is known without them.
pub const ASSUMED: &[&str] = &[C23, "cseq.h"];

/// The declared name that differs least from another one, if that is little: for mistakes in typing.
pub fn nearest(name: &str) -> Option<&'static str> {
    let letters = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let words = HEADERS.iter().flat_map(|(_, text)| text.split(letters)).filter(|word| word.len() > 4);
    let close = words.filter(|word| !word.starts_with("__") && word.len().abs_diff(name.len()) <= 2);
    let near = close
        .map(|word| (distance(word, name), word))
        .filter(|(steps, _)| *steps <= 1 + name.len() / 8)
        .min()?
        .1;
    declaring(near).map(|_| near)
}

/// The edit distance of two short words.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The text of a built-in header.
pub fn find(name: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The names of the built-in headers.
pub fn names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|(name, _)| *name).filter(|name| !ASSUMED.contains(name))
}

/// The header that declares a name, for hints.
pub fn header_of(name: &str) -> Option<&'static str> {
    declaring(name)
}

/// The built-in header that declares a function, a type or a macro. A header of the C library comes before one that is ours.
pub fn declaring(name: &str) -> Option<&'static str> {
    let mut found: Option<&'static str> = None;
    for (header, text) in HEADERS {
        if !declares(text, name) {
            continue;
        }
        if *header != "linux.h" {
            return Some(header);
        }
        found = Some(header);
    }
    found
}

/// Whether a header's text declares a name: as a macro, or behind a type.
fn declares(text: &str, name: &str) -> bool {
    if name.starts_with("__fp_") {
        return false;
    }
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if word(before.chars().next_back()) || word(after.chars().next()) {
            return false;
        }
        let line = before.rsplit('\n').next().unwrap_or("");
        match line.strip_prefix("#define ") {
            Some(rest) => rest.is_empty(),
            None if line.starts_with('#') => false,
            None => {
                let next = after.trim_start().chars().next();
                let named = ["typedef ", "extern ", "enum {"].iter().any(|word| line.starts_with(word));
                match next {
                    // A function, not one of its parameters.
                    Some('(') => !line.contains('(') || line.ends_with("(*"),
                    Some(';' | '[') => named,
                    Some(',' | '=' | '}') => {
                        named && !line.contains('(')
                            || line.trim().is_empty() && text.contains("typedef enum")
                            || line.trim_start().starts_with("memory_order")
                    }
                    _ => line.trim().is_empty() && text.contains("typedef enum"),
                }
            }
        }
    })
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
            "pthread_cond_clockwait",
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
    (
        "runtime/c11.c",
        include_str!("runtime/c11.c"),
        &[
            "mtx_init",
            "mtx_destroy",
            "mtx_lock",
            "mtx_trylock",
            "mtx_timedlock",
            "mtx_unlock",
            "cnd_init",
            "cnd_destroy",
            "cnd_wait",
            "cnd_timedwait",
            "cnd_signal",
            "cnd_broadcast",
            "call_once",
            "tss_create",
            "tss_delete",
            "tss_get",
            "tss_set",
        ],
    ),
    ("runtime/symmetric.c", include_str!("runtime/symmetric.c"), &["__VERIFIER_spawn_symmetric"]),
    ("runtime/alloca.c", include_str!("runtime/alloca.c"), &["__fp_alloca", "__fp_alloca_end"]),
    ("runtime/timed.c", include_str!("runtime/timed.c"), &["pthread_mutex_timedlock"]),
    ("runtime/once.c", include_str!("runtime/once.c"), &["pthread_once"]),
    (
        "runtime/keys.c",
        include_str!("runtime/keys.c"),
        &["pthread_key_create", "pthread_key_delete", "pthread_getspecific", "pthread_setspecific"],
    ),
    ("runtime/cleanup.c", include_str!("runtime/cleanup.c"), &["__fp_cleanup_push", "__fp_cleanup_pop"]),
    (
        "runtime/cancel.c",
        include_str!("runtime/cancel.c"),
        &["pthread_cancel", "pthread_testcancel", "pthread_setcancelstate", "pthread_setcanceltype"],
    ),
    (
        "runtime/rcu.c",
        include_str!("runtime/rcu.c"),
        &["__fp_rcu_lock", "__fp_rcu_unlock", "__fp_synchronize_rcu"],
    ),
    (
        "runtime/string.c",
        include_str!("runtime/string.c"),
        &[
            "strlen",
            "strcmp",
            "strncmp",
            "strcpy",
            "strncpy",
            "strcat",
            "strchr",
            "strnlen",
            "strcoll",
            "stpcpy",
            "strlcpy",
            "strncat",
            "strchrnul",
            "strrchr",
            "strstr",
            "strspn",
            "strcspn",
            "strpbrk",
            "strtok_r",
            "strtok",
            "strndup",
            "strdup",
            "memchr",
            "strcasecmp",
            "strncasecmp",
            "strcpy_s",
            "strncpy_s",
            "strcat_s",
            "strsignal",
        ],
    ),
    (
        "runtime/block.c",
        include_str!("runtime/block.c"),
        &["mempcpy", "memcpy_s", "memmove_s", "memset_s", "explicit_bzero"],
    ),
    (
        "runtime/stdlib.c",
        include_str!("runtime/stdlib.c"),
        &[
            "abs", "labs", "llabs", "strtoul", "strtol", "strtoll", "strtoull", "atoi", "atol", "atoll",
            "qsort", "bsearch", "getenv",
        ],
    ),
    ("runtime/divide.c", include_str!("runtime/divide.c"), &["div", "ldiv"]),
    ("runtime/format.c", include_str!("runtime/format.c"), &["vsnprintf", "vsprintf", "snprintf", "sprintf"]),
    (
        "runtime/ctype.c",
        include_str!("runtime/ctype.c"),
        &[
            "isdigit", "islower", "isupper", "isalpha", "isalnum", "isblank", "iscntrl", "isgraph",
            "isprint", "ispunct", "isspace", "isxdigit", "isascii", "tolower", "toupper",
        ],
    ),
    ("runtime/tables.c", include_str!("runtime/tables.c"), &["__ctype_b_loc"]),
    (
        "runtime/math.c",
        include_str!("runtime/math.c"),
        &["fabs", "fabsf", "fmax", "fmin", "trunc", "floor", "ceil", "round"],
    ),
    ("runtime/errno.c", include_str!("runtime/errno.c"), &["__errno_location", "strerror", "strerror_r"]),
    (
        "runtime/time.c",
        include_str!("runtime/time.c"),
        &[
            "time",
            "clock",
            "difftime",
            "mktime",
            "localtime_r",
            "gmtime_r",
            "localtime",
            "gmtime",
            "asctime",
            "ctime",
            "strftime",
            "clock_gettime",
            "clock_getres",
            "timespec_get",
            "gettimeofday",
        ],
    ),
    (
        "runtime/system.c",
        include_str!("runtime/system.c"),
        &[
            "mmap",
            "munmap",
            "getrandom",
            "getentropy",
            "getpid",
            "getppid",
            "gettid",
            "getuid",
            "geteuid",
            "sysconf",
            "getpagesize",
        ],
    ),
    ("runtime/futex.c", include_str!("runtime/futex.c"), &["syscall"]),
    (
        "runtime/jump.c",
        include_str!("runtime/jump.c"),
        &["longjmp", "_longjmp", "siglongjmp", "__fp_set_jump", "__fp_jump_value"],
    ),
    ("runtime/ticks.c", include_str!("runtime/ticks.c"), &["__fp_ticks"]),
    (
        "runtime/signal.c",
        include_str!("runtime/signal.c"),
        &[
            "signal",
            "sigaction",
            "raise",
            "sigemptyset",
            "sigfillset",
            "sigaddset",
            "sigdelset",
            "sigismember",
        ],
    ),
];

const BITS: (&str, &str) = ("runtime/bits.c", include_str!("runtime/bits.c"));

/// The number of the last error.
pub const ERRNO: (&str, &str) = ("runtime/errno.c", include_str!("runtime/errno.c"));

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
    if name.starts_with("__builtin_") || matches!(name, "ffs" | "ffsl" | "ffsll") {
        return Some(BITS);
    }
    MODULES
        .iter()
        .find(|(_, _, functions)| functions.contains(&name))
        .map(|(module, text, _)| (*module, *text))
}
