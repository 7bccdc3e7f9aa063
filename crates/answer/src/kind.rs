//! The kinds of findings: one table. A row is all that a new kind needs here; `docs/FINDINGS.md` and `fencepost explain`
//! show the table, and a test compares the former with it.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is wrong: the verdict is unsafe.
    Error,
    /// Worth knowing: changes neither verdict nor exit code.
    Warning,
    /// The program goes where we cannot follow: the verdict is unknown.
    Unknown,
}

impl Severity {
    /// As in JSON, where what we cannot follow is an error too.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error | Severity::Unknown => "error",
            Severity::Warning => "warning",
        }
    }
}

/// What the table says about a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind.
    pub kind: FindingKind,
    /// The stable code: never changed, never used again.
    pub code: &'static str,
    /// A word or two for machines.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it says in one line where the engine knows nothing better, such as the name of the object.
    pub message: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    /// Programs that show it: of `crates/c/corpus`, or with a path.
    pub examples: &'static [&'static str],
}

macro_rules! findings {
    ($($kind:ident => {
        code: $code:literal, name: $name:literal, severity: $severity:ident,
        message: $message:literal,
        meaning: $meaning:literal,
        advice: $advice:literal,
        examples: [$($example:literal),*],
    })*) => {
        /// The kinds of findings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FindingKind {
            $(#[doc = $message] $kind,)*
        }

        /// The table, a row per kind, in the order of [`FindingKind`].
        pub const TABLE: &[Entry] = &[$(Entry {
            kind: FindingKind::$kind,
            code: $code,
            name: $name,
            severity: Severity::$severity,
            message: $message,
            meaning: $meaning,
            advice: $advice,
            examples: &[$($example),*],
        },)*];
    };
}

findings! {
    Assertion => {
        code: "FP0101", name: "assertion", severity: Error,
        message: "this assertion fails",
        meaning: "an `assert`, `__VERIFIER_assert` or `reach_error` fails, or `abort` is called",
        advice: "read the execution: a line that *does not see* a write tells which two accesses need an order (a \
            fence, or acquire and release)",
        examples: ["dekker_2_rlx.c", "litmus_mp_rlx.c", "finding_abort.c"],
    }
    Misuse => {
        code: "FP0402", name: "misuse", severity: Error,
        message: "a library function is used against its rules",
        meaning: "a mutex, read-write lock, semaphore, barrier or condition variable is used before its \
            initialisation or after its destruction, initialised twice, destroyed while somebody holds it or waits; a \
            lock is released by a thread that does not hold it; a thread is joined or detached that was joined or \
            detached before",
        advice: "use the library as POSIX says",
        examples: ["finding_unlock_by_other.c", "finding_destroy_held.c"],
    }
    DataRace => {
        code: "FP0201", name: "data race", severity: Error,
        message: "data race",
        meaning: "two threads access a plain object, one writes, and nothing orders them",
        advice: "make it atomic, or order the two accesses by a lock or by release and acquire",
        examples: ["finding_race.c", "litmus_mp_race.c"],
    }
    NullPointer => {
        code: "FP0301", name: "null pointer", severity: Error,
        message: "access through a null pointer",
        meaning: "an access through a null pointer, or close to one",
        advice: "check the pointer, or order its publication before its use",
        examples: ["finding_null.c"],
    }
    BadPointer => {
        code: "FP0309", name: "bad pointer", severity: Error,
        message: "access through a value that is no pointer",
        meaning: "an access through a number that is no pointer",
        advice: "casts of integers to pointers are followed only if they came from pointers",
        examples: ["finding_bad_pointer.c"],
    }
    OutOfBounds => {
        code: "FP0302", name: "out of bounds", severity: Error,
        message: "access outside the object",
        meaning: "an access that is not within the object",
        advice: "check the index; an index that another thread computes may be old",
        examples: ["finding_out_of_bounds.c"],
    }
    MixedSize => {
        code: "FP0310", name: "mixed sizes", severity: Error,
        message: "accesses of different sizes overlap",
        meaning: "overlapping accesses of different sizes by several threads: no model here defines them",
        advice: "access an object by one size, or copy it with `memcpy`",
        examples: ["finding_mixed_size.c"],
    }
    UseAfterFree => {
        code: "FP0303", name: "use after free", severity: Error,
        message: "use of an object that may have been freed",
        meaning: "an access that is not ordered before the `free` of its object, or comes after it",
        advice: "free only what nobody can still reach: hazard pointers, reference counts, RCU",
        examples: ["treiber_aba.c", "finding_use_after_free.c"],
    }
    UseAfterScope => {
        code: "FP0304", name: "use after scope", severity: Error,
        message: "use of an object that may be out of scope",
        meaning: "the same for a local object whose block or function has ended, or whose thread has, by \
            `pthread_exit`; and for a thread-local object whose thread has ended",
        advice: "let the object live as long as its address is known to others",
        examples: ["finding_use_after_scope.c", "scope_pthread_exit.c", "thread_local_ended.c"],
    }
    DoubleFree => {
        code: "FP0305", name: "double free", severity: Error,
        message: "an object is freed twice",
        meaning: "two `free` of one object",
        advice: "decide who frees",
        examples: ["finding_double_free.c"],
    }
    InvalidFree => {
        code: "FP0306", name: "invalid free", severity: Error,
        message: "free of what is not the start of an allocation",
        meaning: "`free` of what is not the start of an allocation",
        advice: "free what `malloc` returned",
        examples: ["finding_invalid_free.c"],
    }
    Uninitialised => {
        code: "FP0307", name: "uninitialised read", severity: Error,
        message: "read of memory that was not written",
        meaning: "a variable is read that nobody has written, or a value is used that was copied from memory that \
            nobody has written",
        advice: "write it first, or order the write before the read",
        examples: ["finding_uninitialised_heap.c"],
    }
    UseBeforeAllocation => {
        code: "FP0311", name: "use before allocation", severity: Error,
        message: "use of an object that need not have been allocated yet",
        meaning: "under language models: an access that does not happen after what made its object, because the \
            pointer came without release and acquire",
        advice: "publish the pointer by a release store and read it by an acquire load",
        examples: ["allocated_elsewhere.c"],
    }
    Constant => {
        code: "FP0312", name: "write to a constant", severity: Error,
        message: "a constant is written",
        meaning: "a string literal, or a static object that was declared `const`, is written through a pointer",
        advice: "write to a copy, or declare the object without `const`",
        examples: ["constant_literal.c", "constant_object.c"],
    }
    Leak => {
        code: "FP0308", name: "leak", severity: Warning,
        message: "an object is never freed",
        meaning: "an allocation that the execution uses and never frees, although all threads end; `exit` and the \
            return of `main` end the process, which leaks nothing",
        advice: "free it, or ignore the warning where the end of the program does that",
        examples: ["finding_leak.c"],
    }
    Deadlock => {
        code: "FP0401", name: "deadlock", severity: Error,
        message: "threads wait for ever",
        meaning: "threads wait for ever: for mutexes (also their own), for a value that nobody will write, for \
            threads that do not end. The end of the process, by `exit` or the return of `main`, ends all waiting",
        advice: "each waiting thread has its place; a lock says who holds it",
        examples: ["finding_deadlock.c", "finding_relock.c", "sync_cond_lost.c", "finding_waits_forever.c"],
    }
    LeftWaiting => {
        code: "FP0403", name: "left waiting", severity: Warning,
        message: "threads still wait when `main` returns",
        meaning: "threads that nobody joins would wait for ever: for a mutex, a signal or a value that nobody will \
            write. That is no error, because the return of `main` ends the process; most often the joins were forgotten",
        advice: "join them to make this an error, or call `exit` where they are meant to be left",
        examples: ["finding_left_waiting.c"],
    }
    NeedsSignal => {
        code: "FP0404", name: "needs signal", severity: Warning,
        message: "wrong if a wait ends without a signal",
        meaning: "a wait for a condition variable may end without a signal (POSIX and C11 allow it), and then \
            something goes wrong that does not otherwise. Looked for in programs that are safe without such wake-ups, \
            where that costs little",
        advice: "put the wait into a loop that tests the condition; `--spurious` makes this an error",
        examples: ["finding_needs_signal.c"],
    }
    DivisionByZero => {
        code: "FP0501", name: "division by zero", severity: Error,
        message: "division by zero",
        meaning: "also the remainder",
        advice: "check the divisor",
        examples: ["finding_division.c"],
    }
    BadCall => {
        code: "FP0502", name: "bad call", severity: Error,
        message: "call through a pointer that is no function",
        meaning: "a call through a pointer that is no function",
        advice: "initialise the pointer, or order its publication before the call",
        examples: ["finding_bad_call.c"],
    }
    LocalLoop => {
        code: "FP0503", name: "endless loop", severity: Error,
        message: "a loop does not end and accesses no shared memory",
        meaning: "a thread computes without an access and is back where it was: it does so for ever. Most loops are \
            cut by `--unroll` before",
        advice: "give the loop an end",
        examples: [],
    }
    Unsupported => {
        code: "FP0901", name: "unsupported", severity: Unknown,
        message: "something that the engine cannot follow",
        meaning: "the program goes where the model of the library or the engine does not: too deep recursion, more \
            than 32 waits on one condition variable. The verdict is *unknown*",
        advice: "make the program smaller",
        examples: ["crates/cli/tests/data/deep_recursion.c"],
    }
    OutsideSection => {
        code: "FP0902", name: "outside section", severity: Unknown,
        message: "an access in an atomic section and one outside of sections at the same time",
        meaning: "an access outside atomic sections comes at the same time as one inside. The explorer knows sections \
            as critical sections of one lock, which is the same only if what they share is accessed in sections. The \
            verdict is *unknown*",
        advice: "put the other access into a section, or use `--engine states` (SC, TSO, PSO), where nothing comes \
            between the steps of a section",
        examples: ["crates/cli/tests/data/outside_section.c"],
    }
}

impl FindingKind {
    /// Its row of the table.
    pub fn entry(self) -> &'static Entry {
        // The rows stand in the order of the kinds: one macro makes both.
        &TABLE[self as usize]
    }

    /// The kind with that code.
    pub fn from_code(code: &str) -> Option<FindingKind> {
        TABLE.iter().find(|entry| entry.code.eq_ignore_ascii_case(code)).map(|entry| entry.kind)
    }

    /// The stable code.
    pub fn code(self) -> &'static str {
        self.entry().code
    }

    /// A word or two for machines.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// How bad it is.
    pub fn severity(self) -> Severity {
        self.entry().severity
    }

    /// What it says in one line where nothing better is known.
    pub fn message(self) -> &'static str {
        self.entry().message
    }

    /// Whether it says that there is no answer.
    pub fn is_unknown(self) -> bool {
        self.severity() == Severity::Unknown
    }

    /// Whether it changes neither verdict nor exit code.
    pub fn is_warning(self) -> bool {
        self.severity() == Severity::Warning
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_stand_in_the_order_of_the_kinds() {
        for entry in TABLE {
            assert_eq!(entry.kind.entry(), entry);
            assert_eq!(FindingKind::from_code(entry.code), Some(entry.kind));
        }
    }

    #[test]
    fn codes_and_names_are_unique_and_well_formed() {
        let codes: BTreeSet<&str> = TABLE.iter().map(|entry| entry.code).collect();
        let names: BTreeSet<&str> = TABLE.iter().map(|entry| entry.name).collect();
        assert_eq!((codes.len(), names.len()), (TABLE.len(), TABLE.len()));
        for entry in TABLE {
            let digits = entry.code.strip_prefix("FP").expect("FP and digits");
            assert!(digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()), "{}", entry.code);
            assert!(!entry.meaning.is_empty() && !entry.advice.is_empty(), "{}", entry.code);
        }
    }
}
