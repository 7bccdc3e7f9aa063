//! The reduction of the promising semantics to SC `[AAGKV, 5 and C]`, IR to IR.
//!
//! A run with at most K promises and view switches becomes an SC run of a program in which every memory step is an atomic
//! section. There are two
//! translations. Both take the specification from section 3 where Algorithms 6 to 13 say something else (ADR
//! `promising-reduction`).
//!
//! **Without promises** (`essential`, `thread`) it is the paper's: only *essential* messages are stored, those that somebody
//! reads, and a write that
//! nobody else compares with takes no timestamp. Deviations:
//! - there is no bound on contexts: K + n are not enough when fences are ordered;
//! - reading the message that a fence raised the view to costs nothing; a write that was given no timestamp gets one at the next
//!   fence, and at the end of
//!   its thread, so that the last value of each cell is known.
//!
//! **With promises** (`certified`) every message is stored, by cell and timestamp, because a certification may read, at no cost,
//! what nobody else reads. After every
//! step of a thread that has promises a copy of what is left of the thread certifies them: code of its own that only goes
//! forward, in place of the paper's
//! check mode, which jumps back. What certifications cost is charged when another thread goes on, as section 4 counts it.

mod certified;
pub(crate) mod code;
mod essential;
mod straight;
mod thread;
mod updates;

use crate::Unsupported;
use code::Jumps;
use fencepost_ir::{Instr, Object, ObjectId, Observable, Order, Program, Property, Span, Value, Width};
pub use straight::straighten;
use updates::Updates;

/// How to reduce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// K: most promises and view switches.
    pub bound: u32,
    /// Most promises. Without them the program is much smaller.
    pub promises: u32,
    /// A rule that is left out, for tests of the tests.
    pub without: Option<Rule>,
}

/// The rules of the translation with promises by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Rule {
    /// What is read is not older than the view.
    ReadsNewer,
    /// A read-modify-write takes the timestamp right behind what it reads.
    UpdateTouches,
    /// What fulfils a promise has its value.
    FulfilsValue,
    /// What is promised is certified at once.
    CertifiesPromise,
    /// What is open is certified after every step.
    CertifiesStep,
    /// View switches of a certification count where the thread leaves.
    CountsCertification,
    /// A certification reads only what is newer.
    GhostReadsNewer,
    /// A certification writes behind all messages, or uses a promise.
    GhostWritesLast,
    /// A read-modify-write in a certification uses a promise.
    GhostUpdatesByPromise,
    /// The promise that it uses touches what it reads.
    GhostTouches,
    /// What fulfils a promise in a certification has its value.
    GhostFulfilsValue,
    /// A certification ends at fences.
    GhostStopsAtFence,
}

/// Reduces a program, as [`straighten`] makes it.
pub fn reduce_promising(program: &Program, options: &Options) -> Result<Program, Unsupported> {
    match options.promises.min(options.bound) {
        0 => essential::reduce(program, options),
        promises => certified::reduce(program, &Options { promises, ..*options }),
    }
}

/// What a translated program shares.
struct Shared(Vec<Object>);

impl Shared {
    fn array(&mut self, name: &str, values: Vec<i64>) -> ObjectId {
        let values: Vec<Value> =
            values.into_iter().map(Value::from_i64).map(|v| Width::W32.zero_extend(v)).collect();
        self.0.push(Object::array(name, Width::W32, &values, Span::default()));
        ObjectId(self.0.len() as u32 - 1)
    }
}

/// A final condition is about the last values, which stand in an array, cell by cell.
fn observe(program: &mut Program, cells: &[(Value, Value)], last: ObjectId) {
    let Property::Final(condition) = &mut program.property else { return };
    for observable in &mut condition.observed {
        if let Observable::Memory { object, offset, .. } = observable {
            let address = Value::pointer(*object, *offset);
            let cell = cells.iter().position(|(a, _)| *a == address).unwrap_or(0);
            *observable = Observable::Memory { object: last, offset: 4 * cell as u32, width: Width::W32 };
        }
    }
}

/// Every cell: its address and its initial value.
fn cells(program: &Program) -> Result<Vec<(Value, Value)>, Unsupported> {
    let mut cells = Vec::new();
    for (o, object) in (0u32..).zip(&program.objects) {
        for cell in &object.cells {
            let (Some(init), Width::W32) = (cell.init, cell.width) else {
                let what = format!("`{}`, which is not made of initialised 32-bit cells,", object.name);
                return Err(Unsupported { what, span: object.span });
            };
            cells.push((Value::pointer(ObjectId(o), cell.offset), Width::W32.sign_extend(init)));
        }
    }
    Ok(cells)
}

/// True if an order is no stronger than relaxed.
pub(crate) fn is_relaxed(order: Order) -> bool {
    matches!(order, Order::Plain | Order::Relaxed)
}

/// Why an instruction cannot be translated.
fn refused(instr: &Instr, span: Span) -> Unsupported {
    let what = match instr {
        Instr::Load { .. } | Instr::Store { .. } | Instr::CompareExchange { .. } => {
            "an access that is stronger than relaxed, or weak,"
        }
        Instr::Call { .. } => "a call",
        _ => "this instruction",
    };
    Unsupported { what: what.into(), span }
}
