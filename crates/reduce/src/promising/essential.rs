//! Programs without promises: essential messages only.
//!
//! Timestamps of a cell are 0..=T, where T is the number of its writes, or 2K and one for each fence and thread if that is less.

use super::thread::translate;
use super::{Options, Shared, cells, observe};
use crate::Unsupported;
use fencepost_ir::{FunctionId, Instr, ObjectId, Operand, Program, Value};

/// The shared data of the translated program, and its sizes.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    /// K.
    pub bound: i64,
    /// Timestamps of a cell are `0..=stamps`.
    pub stamps: i64,
    /// Room in the message store.
    pub slots: i64,
    /// Addresses and initial values of the cells.
    pub cells: Vec<(Value, Value)>,
    /// Message store: cell, timestamp, value.
    pub var: ObjectId,
    pub time: ObjectId,
    pub value: ObjectId,
    /// Messages in the store.
    pub used: ObjectId,
    /// Per cell and timestamp: 0 free, 1 taken.
    pub taken: ObjectId,
    /// Per cell and timestamp: something touches the message from above (`upd`).
    pub touched: ObjectId,
    /// Per cell: the global view, and the newest timestamp and its value.
    pub global: ObjectId,
    pub newest: ObjectId,
    pub last: ObjectId,
    /// Spent so far.
    pub spent: ObjectId,
}

impl Data {
    /// The place of a cell's timestamp in the arrays per cell and timestamp.
    pub fn row(&self, cell: usize) -> i64 {
        cell as i64 * (self.stamps + 1)
    }
}

/// Reduces a program.
pub fn reduce(program: &Program, options: &Options) -> Result<Program, Unsupported> {
    let cells = cells(program)?;
    let (stamps, slots) = sizes(program, options, cells.len());
    let mut shared = Shared(Vec::new());
    let mut array = |name: &str, values: Vec<i64>| shared.array(name, values);
    let count = cells.len();
    let per_stamp = |first: i64| {
        (0..count).flat_map(|_| (0..=stamps).map(move |s| if s == 0 { first } else { 0 })).collect()
    };
    let store = || vec![0; slots.max(1) as usize];
    let data = Data {
        bound: i64::from(options.bound),
        stamps,
        slots,
        last: array("ps_last", cells.iter().map(|(_, init)| init.as_i64()).collect()),
        var: array("ps_var", store()),
        time: array("ps_time", store()),
        value: array("ps_value", store()),
        used: array("ps_used", vec![0]),
        taken: array("ps_taken", per_stamp(1)),
        touched: array("ps_touched", per_stamp(0)),
        global: array("ps_global", vec![0; count]),
        newest: array("ps_newest", vec![0; count]),
        spent: array("ps_spent", vec![0]),
        cells,
    };
    let mut reduced = program.clone();
    reduced.objects = shared.0;
    reduced.functions.clear();
    for (number, thread) in program.threads.iter().enumerate() {
        let source = &program.functions[thread.function.0 as usize];
        reduced.functions.push(translate(source, &data)?);
        reduced.threads[number].function = FunctionId(number as u32);
    }
    observe(&mut reduced, &data.cells, data.last);
    Ok(reduced)
}

/// Timestamps per cell, and messages in the store.
fn sizes(program: &Program, options: &Options, cells: usize) -> (i64, i64) {
    let bodies = || program.threads.iter().flat_map(|t| &program.functions[t.function.0 as usize].body);
    let writes = |address: Option<Value>| {
        let counts = |instr: &&Instr| match instr {
            Instr::Store { addr, .. } | Instr::StoreExclusive { addr, .. } => {
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
