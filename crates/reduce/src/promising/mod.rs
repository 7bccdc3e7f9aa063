//! The reduction of the promising semantics to SC `[AAGKV, 5 and C]`, IR to IR.
//!
//! A run with at most K promises and view switches becomes an SC run of a program in which every memory step is an atomic section. What
//! the paper's translation keeps is kept: only *essential* messages are stored (promises, and those that somebody reads), a write that nobody
//! else compares with takes no timestamp, a thread runs ahead in *check mode* with its state saved to certify its promises, and a
//! chain of unpromised writes in check mode (`liveChain`) ends in a promise or at the end of its cell.
//!
//! Deviations, all towards section 3, which is the specification (ADR `promising-reduction`):
//! - consistency is certified after every step of a thread that has promises, not at context switches only, and one promise is made at a time; what
//!   certifications cost is charged when another thread goes on, as section 4 counts it, through `pending`;
//! - there is no bound on contexts: K + n are not enough when fences are ordered;
//! - a promise that a read-modify-write will fulfil is *anchored* to the message before it, and the timestamps between are its thread's
//!   (`upd` and `view.t + 1` of the paper leave no room for splitting it);
//! - an unpromised chain may stay at the end of its cell, unless a read-modify-write is part of it;
//! - reading the message that a fence raised the view to costs nothing; a write that was given no timestamp gets one at the next fence, and at the end of
//!   its thread, so that the last value of each cell is known;
//! - certification goes on past a failed assertion.
//!
//! Timestamps of a cell are 0..=T, where T is the number of its writes, or 2K and one for each fence and thread if that is less.

pub(crate) mod code;
mod straight;
mod thread;

use crate::Unsupported;
use fencepost_ir::{
    FunctionId, Instr, Object, ObjectId, Observable, Operand, Order, Program, Property, Span, Value, Width,
};
pub use straight::straighten;
use thread::translate;

/// How to reduce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// K: most promises and view switches.
    pub bound: u32,
    /// Promises may be made. Without them the program is much smaller.
    pub promises: bool,
}

/// The shared data of the translated program, and its sizes.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    /// K.
    pub bound: i64,
    /// Promises may be made.
    pub promises: bool,
    /// There is a compare-exchange, so it matters which messages touch.
    pub updates: bool,
    /// Timestamps of a cell are `0..=stamps`.
    pub stamps: i64,
    /// Room in the message store.
    pub slots: i64,
    /// Addresses and initial values of the cells.
    pub cells: Vec<(Value, Value)>,
    /// Message store: cell, timestamp, value, promise of (thread + 1; negative when certified), anchor (-1: none).
    pub var: ObjectId,
    pub time: ObjectId,
    pub value: ObjectId,
    pub owner: ObjectId,
    pub anchor: ObjectId,
    /// Messages in the store.
    pub used: ObjectId,
    /// Per cell and timestamp: 0 free, 1 taken, thread + 2 kept for that thread.
    pub taken: ObjectId,
    /// Per cell and timestamp: something touches the message from above (`upd`).
    pub touched: ObjectId,
    /// Per cell: the global view, and the newest timestamp and its value.
    pub global: ObjectId,
    pub newest: ObjectId,
    pub last: ObjectId,
    /// Spent so far; what the last certification cost; who moved last.
    pub spent: ObjectId,
    pub pending: ObjectId,
    pub active: ObjectId,
    /// Promises that each thread has to fulfil, and to certify in the current check.
    pub owes: ObjectId,
    pub open: ObjectId,
}

impl Data {
    /// The place of a cell's timestamp in the arrays per cell and timestamp.
    pub fn row(&self, cell: usize) -> i64 {
        cell as i64 * (self.stamps + 1)
    }
}

/// Reduces a program. It has one function per thread, relaxed accesses to known cells, compare-exchanges, SC fences and no loops
/// that write.
pub fn reduce_promising(program: &Program, options: &Options) -> Result<Program, Unsupported> {
    let mut reduced = program.clone();
    reduced.objects = Vec::new();
    let cells = cells(program)?;
    let (stamps, slots) = sizes(program, options, cells.len());
    let mut array = |name: &str, values: Vec<i64>| {
        let values: Vec<Value> =
            values.into_iter().map(Value::from_i64).map(|v| Width::W32.zero_extend(v)).collect();
        reduced.objects.push(Object::array(name, Width::W32, &values, Span::default()));
        ObjectId(reduced.objects.len() as u32 - 1)
    };
    let (count, threads) = (cells.len(), program.threads.len());
    let per_stamp = |first: i64| {
        (0..count).flat_map(|_| (0..=stamps).map(move |s| if s == 0 { first } else { 0 })).collect()
    };
    let store = || vec![0; slots.max(1) as usize];
    let data = Data {
        bound: i64::from(options.bound),
        promises: options.promises && options.bound > 0,
        updates: program
            .functions
            .iter()
            .flat_map(|f| &f.body)
            .any(|i| matches!(i, Instr::CompareExchange { .. })),
        stamps,
        slots,
        last: array("ps_last", cells.iter().map(|(_, init)| init.as_i64()).collect()),
        var: array("ps_var", store()),
        time: array("ps_time", store()),
        value: array("ps_value", store()),
        owner: array("ps_owner", store()),
        anchor: array("ps_anchor", store()),
        used: array("ps_used", vec![0]),
        taken: array("ps_taken", per_stamp(1)),
        touched: array("ps_touched", per_stamp(0)),
        global: array("ps_global", vec![0; count]),
        newest: array("ps_newest", vec![0; count]),
        spent: array("ps_spent", vec![0]),
        pending: array("ps_pending", vec![0]),
        active: array("ps_active", vec![-1]),
        owes: array("ps_owes", vec![0; threads]),
        open: array("ps_open", vec![0; threads]),
        cells,
    };
    reduced.functions.clear();
    for (number, thread) in program.threads.iter().enumerate() {
        let source = &program.functions[thread.function.0 as usize];
        reduced.functions.push(translate(source, &data, number)?);
        reduced.threads[number].function = FunctionId(number as u32);
    }
    if let Property::Final(condition) = &mut reduced.property {
        for observable in &mut condition.observed {
            if let Observable::Memory { object, offset, .. } = observable {
                let address = Value::pointer(*object, *offset);
                let cell = data.cells.iter().position(|(a, _)| *a == address).unwrap_or(0);
                *observable =
                    Observable::Memory { object: data.last, offset: 4 * cell as u32, width: Width::W32 };
            }
        }
    }
    Ok(reduced)
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

/// Timestamps per cell, and messages in the store.
fn sizes(program: &Program, options: &Options, cells: usize) -> (i64, i64) {
    let bodies = || program.threads.iter().flat_map(|t| &program.functions[t.function.0 as usize].body);
    let writes = |address: Option<Value>| {
        let counts = |instr: &&Instr| match instr {
            Instr::Store { addr, .. } | Instr::CompareExchange { addr, .. } => {
                address.is_none_or(|address| *addr == Operand::Const(address))
            }
            _ => false,
        };
        bodies().filter(counts).count() as i64
    };
    let addresses = program.objects.iter().enumerate().flat_map(|(o, object)| {
        object.cells.iter().map(move |cell| Value::pointer(ObjectId(o as u32), cell.offset))
    });
    let most = addresses.map(|address| writes(Some(address))).max().unwrap_or(0);
    let fences = bodies().filter(|instr| matches!(instr, Instr::Fence(_))).count() as i64;
    let bound = i64::from(options.bound);
    let stamps = most.min(2 * bound + fences + program.threads.len() as i64);
    let slots = writes(None).min(bound + fences * cells as i64);
    (stamps, slots)
}

/// True if an order is no stronger than relaxed.
pub(crate) fn is_relaxed(order: Order) -> bool {
    matches!(order, Order::Plain | Order::Relaxed)
}
