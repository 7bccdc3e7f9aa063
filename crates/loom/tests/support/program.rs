//! Small programs as data: in C, and run in Rust.

use super::Counted;
use fencepost_loom::cell::UnsafeCell;
use fencepost_loom::sync::Arc;
use fencepost_loom::sync::atomic::{AtomicU32, Ordering, fence};
use fencepost_loom::{Config, Model, thread};
use std::fmt::Write;

pub const REGISTERS: usize = 3;

/// What a value is made of.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Number(u32),
    Register(usize),
}

#[derive(Clone, Debug)]
pub enum Statement {
    Load(usize, usize, Ordering),
    Store(usize, Value, Ordering),
    Add(usize, usize, u32, Ordering),
    Swap(usize, usize, Value, Ordering),
    Exchange(usize, usize, u32, Value, Ordering, Ordering),
    Fence(Ordering),
    Read(usize, usize),
    Write(usize, Value),
    If(usize, u32, Vec<Statement>),
    Assert(usize, u32),
}

#[derive(Clone, Debug)]
pub struct Program {
    pub atomics: usize,
    pub plains: usize,
    pub threads: Vec<Vec<Statement>>,
}

use Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The program in C.
pub fn in_c(program: &Program) -> String {
    let order = |order: Ordering| match order {
        Relaxed => "memory_order_relaxed",
        Acquire => "memory_order_acquire",
        Release => "memory_order_release",
        AcqRel => "memory_order_acq_rel",
        _ => "memory_order_seq_cst",
    };
    let value = |value: Value| match value {
        Value::Number(n) => format!("{n}u"),
        Value::Register(r) => format!("r{r}"),
    };
    fn list(
        statements: &[Statement],
        out: &mut String,
        order: &dyn Fn(Ordering) -> &'static str,
        value: &dyn Fn(Value) -> String,
    ) {
        for statement in statements {
            let _ = match statement {
                Statement::Load(r, x, o) => {
                    writeln!(out, "r{r} = atomic_load_explicit(&x{x}, {});", order(*o))
                }
                Statement::Store(x, v, o) => {
                    writeln!(out, "atomic_store_explicit(&x{x}, {}, {});", value(*v), order(*o))
                }
                Statement::Add(r, x, n, o) => {
                    writeln!(out, "r{r} = atomic_fetch_add_explicit(&x{x}, {n}u, {});", order(*o))
                }
                Statement::Swap(r, x, v, o) => {
                    writeln!(out, "r{r} = atomic_exchange_explicit(&x{x}, {}, {});", value(*v), order(*o))
                }
                Statement::Exchange(r, x, e, v, s, f) => writeln!(
                    out,
                    "{{ unsigned e = {e}u; atomic_compare_exchange_strong_explicit(&x{x}, &e, {}, {}, {}); r{r} = e; }}",
                    value(*v),
                    order(*s),
                    order(*f)
                ),
                Statement::Fence(o) => writeln!(out, "atomic_thread_fence({});", order(*o)),
                Statement::Read(r, d) => writeln!(out, "r{r} = d{d};"),
                Statement::Write(d, v) => writeln!(out, "d{d} = {};", value(*v)),
                Statement::Assert(r, n) => writeln!(out, "assert(r{r} != {n}u);"),
                Statement::If(r, n, inner) => {
                    let _ = writeln!(out, "if (r{r} == {n}u) {{");
                    list(inner, out, order, value);
                    writeln!(out, "}}")
                }
            };
        }
    }
    let mut out = String::from("#include <stdatomic.h>\n#include <pthread.h>\n#include <assert.h>\n");
    (0..program.atomics).for_each(|x| _ = writeln!(out, "atomic_uint x{x};"));
    (0..program.plains).for_each(|d| _ = writeln!(out, "unsigned d{d};"));
    for (t, thread) in program.threads.iter().enumerate() {
        let _ = writeln!(out, "void *t{t}(void *a) {{\nunsigned r0 = 0, r1 = 0, r2 = 0;");
        list(thread, &mut out, &order, &value);
        let _ = writeln!(out, "return 0; }}");
    }
    let _ = writeln!(out, "int main(void) {{");
    (0..program.threads.len())
        .for_each(|t| _ = writeln!(out, "pthread_t p{t}; pthread_create(&p{t}, 0, t{t}, 0);"));
    (0..program.threads.len()).for_each(|t| _ = writeln!(out, "pthread_join(p{t}, 0);"));
    out + "return 0; }\n"
}

struct Shared {
    atomics: Vec<AtomicU32>,
    plains: Vec<UnsafeCell<u32>>,
}

// SAFETY: races are what the tests look for.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}

#[allow(unsafe_code)]
fn run(statements: &[Statement], shared: &Shared, registers: &mut [u32; REGISTERS]) {
    for statement in statements {
        let value = |value: Value, registers: &[u32; REGISTERS]| match value {
            Value::Number(n) => n,
            Value::Register(r) => registers[r],
        };
        match statement {
            Statement::Load(r, x, o) => registers[*r] = shared.atomics[*x].load(*o),
            Statement::Store(x, v, o) => shared.atomics[*x].store(value(*v, registers), *o),
            Statement::Add(r, x, n, o) => registers[*r] = shared.atomics[*x].fetch_add(*n, *o),
            Statement::Swap(r, x, v, o) => registers[*r] = shared.atomics[*x].swap(value(*v, registers), *o),
            Statement::Exchange(r, x, e, v, s, f) => {
                let new = value(*v, registers);
                let done = shared.atomics[*x].compare_exchange(*e, new, *s, *f);
                registers[*r] = done.unwrap_or_else(|was| was);
            }
            Statement::Fence(o) => fence(*o),
            // SAFETY: as above.
            Statement::Read(r, d) => registers[*r] = shared.plains[*d].with(|d| unsafe { *d }),
            Statement::Write(d, v) => {
                let v = value(*v, registers);
                // SAFETY: as above.
                shared.plains[*d].with_mut(|d| unsafe { *d = v });
            }
            Statement::Assert(r, n) => assert!(registers[*r] != *n),
            Statement::If(r, n, inner) if registers[*r] == *n => run(inner, shared, registers),
            Statement::If(..) => {}
        }
    }
}

/// Explores the program in Rust.
pub fn in_rust(program: &Program, model: Model, anew: bool) -> (Counted, u64, u64) {
    let program = program.clone();
    let config = Config { model, stop_at_first: false, anew, ..Config::default() };
    let report = config.check(move || {
        let shared = Arc::new(Shared {
            atomics: (0..program.atomics).map(|_| AtomicU32::new(0)).collect(),
            plains: (0..program.plains).map(|_| UnsafeCell::new(0)).collect(),
        });
        let threads: Vec<_> = program
            .threads
            .iter()
            .map(|statements| {
                let (statements, shared) = (statements.clone(), shared.clone());
                thread::spawn(move || run(&statements, &shared, &mut [0; REGISTERS]))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(report.is_complete(), "{report}");
    let kinds = report.findings.iter().map(|finding| finding.kind).collect();
    (Counted { executions: report.executions, kinds }, report.runs, report.blocked)
}
