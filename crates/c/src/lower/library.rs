//! The library functions that the lowering knows by name. A function that the program defines itself is called as it is,
//! except for the verifier vocabulary, whose meaning is fixed.

use super::Body;
use crate::ast::{ArithOp, Expr, ExprKind, Unit};
use crate::parser::{Res, counted, fail};
use crate::types::Ty;
use fencepost_diag::Span;
use fencepost_ir::{FailKind, Instr, Operand, Value};

const ZERO: Operand = Operand::Const(Value::ZERO);

/// A library function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Library {
    PthreadCreate,
    SpawnSymmetric,
    PthreadJoin,
    ThrdCreate,
    ThrdJoin,
    Detach,
    ThreadExit,
    ThreadSelf,
    ThreadEqual,
    MutexInit,
    MutexDestroy,
    MutexLock,
    MutexTrylock,
    MutexUnlock,
    Malloc,
    Calloc,
    Realloc,
    AlignedAlloc,
    Free,
    Memset,
    Memcpy,
    Memmove,
    Memcmp,
    Abort,
    AssertFail,
    ProcessExit,
    Assume,
    VerifierAssert,
    SpinStart,
    SpinEnd,
    Error,
    Nondet(Ty),
    /// A number that is not negative.
    Random,
    /// Reads numbers from text; so many arguments stand before the pointers.
    Scan(usize),
    AtomicBegin,
    AtomicEnd,
    /// Its arguments are evaluated and dropped; the result is 0.
    Ignore,
    /// Known, and not modelled.
    Refused,
}

/// What the program as a whole uses.
#[derive(Clone, Copy, Default)]
pub(super) struct Features {
    /// Thread-specific data with destructors.
    pub keys: bool,
    /// A thread may be joined where others cannot know it, or detached: who is gone is kept in memory.
    pub shared_joins: bool,
}

impl Features {
    pub fn of(unit: &Unit) -> Features {
        let keys = unit.functions.iter().any(|f| f.name == "__fp_run_destructors" && f.body.is_some());
        Features { keys, shared_joins: super::threads::shares_joins(unit) }
    }
}

impl Library {
    /// How many arguments it needs: the program may have declared it with others.
    fn arity(self) -> usize {
        match self {
            Library::PthreadCreate => 4,
            Library::ThrdCreate | Library::Memset | Library::Memcpy | Library::Memmove | Library::Memcmp => 3,
            Library::PthreadJoin | Library::ThrdJoin | Library::ThreadEqual | Library::SpawnSymmetric => 2,
            Library::Calloc | Library::Realloc | Library::AlignedAlloc => 2,
            Library::MutexInit
            | Library::MutexDestroy
            | Library::MutexLock
            | Library::MutexTrylock
            | Library::MutexUnlock
            | Library::Detach
            | Library::Malloc
            | Library::Free
            | Library::Assume
            | Library::SpinEnd
            | Library::VerifierAssert => 1,
            _ => 0,
        }
    }

    /// `&x` as this argument is written through at once, so `x` may be a register.
    pub(super) fn stores_through(self, argument: usize) -> bool {
        matches!(
            (self, argument),
            (Library::PthreadCreate | Library::ThrdCreate, 0) | (Library::PthreadJoin | Library::ThrdJoin, 1)
        )
    }

    /// What this argument points to is accessed at once, and the pointer is not kept.
    pub(super) fn accesses(self, argument: usize) -> bool {
        match self {
            Library::Memset => argument == 0,
            Library::Memcpy | Library::Memmove | Library::Memcmp => argument < 2,
            Library::Ignore => true,
            _ => false,
        }
    }
}

/// The library function that a call is of.
pub(super) fn known_call(unit: &Unit, callee: &Expr) -> Option<Library> {
    let ExprKind::Function(id) = &callee.kind else { return None };
    let def = &unit.functions[id.0 as usize];
    let fixed = matches!(
        def.name.as_str(),
        "__VERIFIER_assume"
            | "assume_abort_if_not"
            | "__VERIFIER_error"
            | "reach_error"
            | "__VERIFIER_atomic_begin"
            | "__VERIFIER_atomic_end"
    );
    if def.body.is_some() && !fixed {
        return None;
    }
    // A function of the user's own choice of names: what it returns says what it may be.
    if def.name.starts_with("nondet")
        && let crate::types::TypeKind::Function { result, .. } = unit.types.kind(def.ty)
    {
        return unit.types.is_integer(result.ty).then_some(Library::Nondet(result.ty));
    }
    lookup(&def.name)
}

/// The library function of that name.
pub fn lookup(name: &str) -> Option<Library> {
    Some(match name {
        "pthread_create" => Library::PthreadCreate,
        "__VERIFIER_spawn_symmetric" => Library::SpawnSymmetric,
        "pthread_join" => Library::PthreadJoin,
        "pthread_exit" | "thrd_exit" => Library::ThreadExit,
        "pthread_self" | "thrd_current" => Library::ThreadSelf,
        "pthread_equal" | "thrd_equal" => Library::ThreadEqual,
        "thrd_create" => Library::ThrdCreate,
        "thrd_join" => Library::ThrdJoin,
        "pthread_mutex_init" | "pthread_spin_init" => Library::MutexInit,
        "pthread_mutex_destroy" | "pthread_spin_destroy" | "mtx_destroy" => Library::MutexDestroy,
        "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" => Library::MutexLock,
        "pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock" => Library::MutexTrylock,
        "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" => Library::MutexUnlock,
        "malloc" => Library::Malloc,
        "calloc" => Library::Calloc,
        "realloc" => Library::Realloc,
        "aligned_alloc" | "memalign" => Library::AlignedAlloc,
        "free" => Library::Free,
        "memset" => Library::Memset,
        "memcpy" => Library::Memcpy,
        "memmove" => Library::Memmove,
        "memcmp" => Library::Memcmp,
        "abort" => Library::Abort,
        "__assert_fail" | "__assert_rtn" | "__assert" => Library::AssertFail,
        "exit" | "_exit" | "_Exit" | "quick_exit" => Library::ProcessExit,
        "__VERIFIER_assume" | "assume" | "assume_abort_if_not" => Library::Assume,
        "scanf" => Library::Scan(1),
        "sscanf" | "fscanf" => Library::Scan(2),
        "__VERIFIER_assert" => Library::VerifierAssert,
        "__VERIFIER_error" | "reach_error" => Library::Error,
        "__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin" | "__ESBMC_atomic_begin" => Library::AtomicBegin,
        "__VERIFIER_atomic_end" | "__CPROVER_atomic_end" | "__ESBMC_atomic_end" => Library::AtomicEnd,
        "__VERIFIER_tid" | "__VERIFIER_thread_id" => Library::ThreadSelf,
        "__ESBMC_yield" | "__VERIFIER_loop_begin" | "__VERIFIER_loop_bound" => Library::Ignore,
        "__VERIFIER_spin_start" => Library::SpinStart,
        "__VERIFIER_spin_end" => Library::SpinEnd,
        "printf" | "fprintf" | "puts" | "putchar" | "fputs" | "fputc" | "putc" | "perror" | "fflush"
        | "setbuf" | "setvbuf" | "vprintf" | "vfprintf" => Library::Ignore,
        "pthread_detach" | "thrd_detach" => Library::Detach,
        "sched_yield"
        | "pthread_yield"
        | "thrd_yield"
        | "usleep"
        | "sleep"
        | "nanosleep"
        | "thrd_sleep"
        | "srand"
        | "pthread_attr_destroy"
        | "pthread_attr_setstacksize"
        | "pthread_mutexattr_init"
        | "pthread_mutexattr_destroy"
        | "pthread_condattr_init"
        | "pthread_condattr_destroy"
        | "pthread_rwlockattr_init"
        | "pthread_rwlockattr_destroy"
        | "pthread_barrierattr_init"
        | "pthread_barrierattr_destroy"
        | "pthread_attr_getstacksize"
        | "pthread_attr_setguardsize"
        | "pthread_attr_setstack"
        | "pthread_attr_setscope"
        | "pthread_attr_setinheritsched"
        | "pthread_attr_setschedpolicy"
        | "pthread_attr_setschedparam"
        | "pthread_attr_setaffinity_np"
        | "pthread_mutexattr_setpshared"
        | "pthread_mutexattr_setprotocol"
        | "pthread_mutexattr_setprioceiling"
        | "pthread_mutexattr_setrobust"
        | "pthread_mutex_consistent"
        | "pthread_condattr_setpshared"
        | "pthread_condattr_setclock"
        | "pthread_rwlockattr_setpshared"
        | "pthread_rwlockattr_setkind_np"
        | "pthread_barrierattr_setpshared"
        | "pthread_setname_np"
        | "pthread_getname_np"
        | "pthread_setaffinity_np"
        | "pthread_getaffinity_np"
        | "pthread_setschedparam"
        | "pthread_getschedparam"
        | "pthread_getconcurrency"
        | "sched_setaffinity"
        | "sched_getaffinity"
        | "sched_setscheduler"
        | "sched_getcpu"
        | "pthread_setconcurrency" => Library::Ignore,
        "rand" | "rand_r" | "random" | "lrand48" | "nrand48" => Library::Random,
        "arc4random" => Library::Nondet(Ty::UINT),
        "fgets" | "getchar" | "getc" | "fgetc" | "fopen" | "fdopen" | "freopen" | "fread" | "open"
        | "creat" | "atexit" | "on_exit" | "system" | "pthread_kill" | "fork" | "read" | "pipe" | "wait"
        | "waitpid" | "pause" | "sigsuspend" | "sigwait" | "kill" | "atof" | "strtod" | "drand48"
        | "sqrt" | "pow" | "exp" | "log" | "log2" | "log10" | "sin" | "cos" | "tan" | "asin" | "acos"
        | "atan" | "atan2" | "fmod" | "hypot" | "cbrt" | "ldexp" | "sqrtf" | "powf" | "floorf" | "ceilf"
        | "sinf" | "cosf" | "expf" | "logf" | "getopt" | "asprintf" | "poll" | "ppoll" | "select"
        | "pselect" => Library::Refused,
        "fclose"
        | "fwrite"
        | "fseek"
        | "ftell"
        | "rewind"
        | "feof"
        | "ferror"
        | "ungetc"
        | "setlinebuf"
        | "flockfile"
        | "funlockfile"
        | "remove"
        | "rename"
        | "write"
        | "close"
        | "alarm"
        | "srandom"
        | "srand48"
        | "sigprocmask"
        | "pthread_sigmask"
        | "mprotect"
        | "madvise"
        | "mlock"
        | "munlock"
        | "mlockall"
        | "msync"
        | "malloc_trim"
        | "mallopt"
        | "setlocale"
        | "setenv"
        | "unsetenv"
        | "dprintf"
        | "putchar_unlocked"
        | "clock_nanosleep"
        | "fileno"
        | "isatty"
        | "unlink"
        | "pthread_atfork"
        | "sched_get_priority_max"
        | "sched_get_priority_min" => Library::Ignore,
        _ if name.starts_with("nondet") => Library::Nondet(
            nondet_type(name.trim_start_matches("nondet").trim_start_matches('_')).unwrap_or(Ty::INT),
        ),
        _ => Library::Nondet(nondet_type(name.strip_prefix("__VERIFIER_nondet_")?)?),
    })
}

/// The type of `__VERIFIER_nondet_` with this ending.
pub fn nondet_type(kind: &str) -> Option<Ty> {
    Some(match kind {
        "bool" | "_Bool" => Ty::BOOL,
        "char" => Ty::CHAR,
        "uchar" | "unsigned_char" | "u8" => Ty::UCHAR,
        "short" => Ty::SHORT,
        "ushort" | "unsigned_short" | "u16" => Ty::USHORT,
        "int" => Ty::INT,
        "uint" | "unsigned" | "unsigned_int" | "u32" => Ty::UINT,
        "long" | "longlong" => Ty::LONG,
        "ulong" | "ulonglong" | "unsigned_long" | "size_t" | "u64" => Ty::ULONG,
        _ => return None,
    })
}

impl Body<'_, '_> {
    pub(super) fn library_call(&mut self, function: Library, args: &[Expr], span: Span) -> Res<Operand> {
        if args.len() < function.arity() {
            let needed = counted(function.arity(), "argument");
            return fail(span, format!("this library function takes {needed}"));
        }
        match function {
            Library::PthreadCreate | Library::ThrdCreate => self.spawn(function, args),
            Library::SpawnSymmetric => self.spawn_symmetric(args),
            Library::PthreadJoin | Library::ThrdJoin => self.join(function, args),
            Library::Detach => self.detach(args),
            Library::ThreadExit => self.thread_exit(args),
            Library::ThreadSelf => {
                let dst = self.b.temp();
                self.b.emit(Instr::SelfThread { dst });
                Ok(Operand::Reg(dst))
            }
            Library::ThreadEqual => {
                let (a, b) = (self.value(&args[0])?, self.value(&args[1])?);
                Ok(self.binary(
                    fencepost_ir::BinaryOp::Eq,
                    fencepost_ir::Width::W64,
                    fencepost_ir::Extend::Zero,
                    a,
                    b,
                ))
            }
            Library::MutexInit
            | Library::MutexDestroy
            | Library::MutexLock
            | Library::MutexTrylock
            | Library::MutexUnlock => self.mutex(function, args),
            Library::Malloc | Library::Calloc | Library::AlignedAlloc => self.allocate(function, args),
            Library::Realloc => self.reallocate(args, span),
            Library::Free => {
                let pointer = self.value(&args[0])?;
                self.b.emit(Instr::Free(pointer));
                Ok(ZERO)
            }
            Library::Memset => self.memset(args, span),
            Library::Memcpy => self.memcpy(args, span),
            Library::Memmove => self.memmove(args, span),
            Library::Memcmp => self.memcmp(args, span),
            Library::Nondet(ty) => self.nondet(ty, args),
            Library::Random => {
                self.evaluate_all(args)?;
                let dst = self.b.temp();
                self.b.emit(Instr::Nondet { dst, first: 0, last: i64::from(i32::MAX) });
                Ok(Operand::Reg(dst))
            }
            Library::Scan(skip) => self.scan(skip, args, span),
            _ => self.vocabulary(function, args),
        }
    }

    /// Assertions, assumptions and what ends a run.
    fn vocabulary(&mut self, function: Library, args: &[Expr]) -> Res<Operand> {
        match function {
            Library::Abort => self.fail_with("abort() is called"),
            // An assertion of another C library's header: its first argument is the condition as text.
            Library::AssertFail => {
                let text = args.first().and_then(|e| match &super::escape::strip_casts(self.unit, e).kind {
                    ExprKind::AddrOf(place) => match place.kind {
                        ExprKind::Global(id) => Some(self.unit.globals[id.0 as usize].name.trim_matches('"')),
                        _ => None,
                    },
                    _ => None,
                });
                let message =
                    text.map_or("an assertion fails".into(), |text| format!("assertion `{text}` fails"));
                self.fail_with(&message);
            }
            Library::Error => self.fail_with("an error function is reached"),
            Library::ProcessExit => {
                self.evaluate_all(args)?;
                self.b.emit(Instr::Halt);
            }
            Library::Assume => {
                let condition = self.value(&args[0])?;
                self.b.emit(Instr::Assume(condition));
            }
            Library::SpinStart => self.b.emit(Instr::Round(None)),
            Library::SpinEnd => {
                let condition = self.value(&args[0])?;
                self.b.emit(Instr::Round(Some(condition)));
            }
            Library::VerifierAssert => {
                let condition = self.observed(&args[0])?;
                self.b.emit(Instr::Assert {
                    condition,
                    kind: fencepost_ir::FailKind::Assertion,
                    message: "__VERIFIER_assert fails".into(),
                });
            }
            Library::AtomicBegin => self.b.emit(Instr::AtomicBegin),
            Library::AtomicEnd => self.b.emit(Instr::AtomicEnd),
            _ => self.evaluate_all(args)?,
        }
        Ok(ZERO)
    }

    /// Any number of conversions succeeds, each with any value.
    fn scan(&mut self, skip: usize, args: &[Expr], span: Span) -> Res<Operand> {
        let pointers = args.get(skip..).unwrap_or_default();
        self.evaluate_all(&args[..skip.min(args.len())])?;
        let count = self.b.temp();
        self.b.emit(Instr::Nondet { dst: count, first: -1, last: pointers.len() as i64 });
        let done = self.b.target();
        for (i, pointer) in pointers.iter().enumerate() {
            let more = self.b.target();
            let index = Operand::Const(Value(i as u64));
            let (op, width, extend) =
                (fencepost_ir::BinaryOp::GtS, fencepost_ir::Width::W64, fencepost_ir::Extend::Zero);
            let read = self.binary(op, width, extend, Operand::Reg(count), index);
            self.b.branch(read, more, done);
            self.b.bind(more);
            let to = self.unit.types.pointee(super::escape::strip_casts(self.unit, pointer).ty.ty);
            let Some(to) = to.filter(|to| self.unit.types.is_integer(to.ty)) else {
                return crate::parser::unsupported(pointer.span, "reading this type", "read integers");
            };
            let value = self.nondet(to.ty, &[])?;
            let address = self.value(pointer)?;
            let place = super::places::Place::memory(address, crate::types::QTy::plain(to.ty));
            self.store(place, value, span)?;
        }
        self.b.bind(done);
        Ok(Operand::Reg(count))
    }

    /// `rand() % 4` is any number below 4, and `nondet() & 7` any up to 7: the choice is made among these.
    pub(super) fn bounded_choice(&mut self, op: ArithOp, left: &Expr, right: &Expr) -> Res<Option<Operand>> {
        let Some(crate::sema::Const::Int(bound)) = crate::sema::evaluate(self.unit, right) else {
            return Ok(None);
        };
        // All residues of a type of at least 32 bits can come up; narrower ones cut, and a change of sign in between is too much.
        let types = &self.unit.types;
        let sign = types.is_signed(left.ty.ty);
        let mut call = left;
        let mut whole = true;
        while let ExprKind::Cast(inner) = &call.kind {
            whole &= types.is_signed(inner.ty.ty) || !sign;
            call = inner;
            whole &= types.is_integer(call.ty.ty) && types.size(call.ty.ty).is_some_and(|size| size >= 4);
        }
        whole &= types.is_integer(left.ty.ty) && types.size(left.ty.ty).is_some_and(|size| size >= 4);
        let ExprKind::Call(callee, args, None) = &call.kind else { return Ok(None) };
        let signed = match known_call(self.unit, callee) {
            Some(Library::Random) if whole => false,
            Some(Library::Nondet(ty)) if whole && types.size(ty).is_some_and(|size| size >= 4) => sign,
            _ => return Ok(None),
        };
        let bound = bound as i64;
        let (first, last) = match op {
            ArithOp::Rem if (1..=1 << 16).contains(&bound) => (if signed { 1 - bound } else { 0 }, bound - 1),
            ArithOp::And if (0..1 << 16).contains(&bound) && (bound + 1).count_ones() == 1 => (0, bound),
            _ => return Ok(None),
        };
        self.evaluate_all(args)?;
        let dst = self.b.temp();
        self.b.emit(Instr::Nondet { dst, first, last });
        Ok(Some(Operand::Reg(dst)))
    }

    /// Evaluates arguments that nobody looks at, for their effects.
    fn evaluate_all(&mut self, args: &[Expr]) -> Res<()> {
        for arg in args {
            if !self.is_idle(arg) {
                self.effect(arg)?;
            }
        }
        Ok(())
    }

    /// Has no effect but a value, such as `time(NULL)`, which may be any of too many to be followed.
    fn is_idle(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => true,
            ExprKind::Cast(inner) | ExprKind::Prefix(_, inner) => self.is_idle(inner),
            ExprKind::Binary(_, a, b) => self.is_idle(a) && self.is_idle(b),
            ExprKind::Call(callee, args, None) => {
                let ExprKind::Function(id) = &callee.kind else { return false };
                let name = self.unit.functions[id.0 as usize].name.as_str();
                let known = ["time", "clock", "getpid", "getppid", "gettid", "getuid", "rand", "random"];
                known.contains(&name) && args.iter().all(|arg| self.is_idle(arg))
            }
            _ => false,
        }
    }

    fn fail_with(&mut self, message: &str) {
        self.b.emit(Instr::Fail { kind: FailKind::Assertion, message: message.into() });
    }

    /// Any value of a type.
    fn nondet(&mut self, ty: Ty, args: &[Expr]) -> Res<Operand> {
        self.evaluate_all(args)?;
        let (first, last) = match ty {
            Ty::BOOL => (0, 1),
            Ty::CHAR => (i64::from(i8::MIN), i64::from(i8::MAX)),
            Ty::UCHAR => (0, i64::from(u8::MAX)),
            Ty::SHORT => (i64::from(i16::MIN), i64::from(i16::MAX)),
            Ty::USHORT => (0, i64::from(u16::MAX)),
            Ty::SCHAR => (i64::from(i8::MIN), i64::from(i8::MAX)),
            Ty::INT => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Ty::UINT => (0, i64::from(u32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        let dst = self.b.temp();
        self.b.emit(Instr::Nondet { dst, first, last });
        Ok(Operand::Reg(dst))
    }
}
