//! Programs with promises: every message is stored, and promises are certified by copies of the thread.
//!
//! Timestamps of a cell are 0..=T, where T is the largest number of its writes in a run, and the message with a timestamp is at
//! that place of two arrays. So the order of
//! messages is their place, and a read-modify-write that reads timestamp s takes s + 1. Which intervals touch is not stored: a
//! place is *kept* for a thread
//! once a certification relies on nobody else writing there.
//!
//! ```text
//! read     a place s >= view that has a message, or a promise of somebody else; s > view is a view switch
//! write    a place s > view that is free or kept for the thread, or has its promise of that value; a read-modify-write: s =
//! view + 1 promise  a place s > view that is free or kept; its value is that of the write that fulfils it in the
//! certification which follows at once fence    no promise is open; the view is joined with the global one
//! ```
//!
//! In a certification `[AAGKV, 3.1]` nothing is stored but the value of a new promise and what is kept:
//!
//! ```text
//! read     the view's message, or a place s > view as above, which counts
//! write    behind everything: view := T | splits an open promise s > view: view := s - 1 | fulfils it: view := s
//! rmw      splits or fulfils an open promise s > view where all places between are free or kept for the thread; they are
//! kept from then on fence    there is none
//! ```
//!
//! A split takes the lower part of the interval of a promise. Why places between are enough to know what touches is said in
//! `bmc::promising::ghosts` and
//! in ADR `promising-timestamps`; these are the rules of that encoding, as code.

mod ghost;
mod steps;
mod thread;

use super::{Options, Rule, Shared, cells, observe};
use crate::Unsupported;
use fencepost_ir::{Function, FunctionId, Instr, ObjectId, Operand, Program, Property, Value};
use thread::translate;

/// A cell.
struct Cell {
    /// Its address, and its initial value.
    address: Value,
    init: Value,
    /// The largest timestamp.
    stamps: i64,
    /// The place of timestamp 0.
    row: i64,
    /// Threads that write it.
    writers: Vec<usize>,
}

/// What threads share.
struct Data {
    /// K, and how many of it may be promises.
    bound: i64,
    promises: i64,
    /// How many threads there are.
    threads: i64,
    cells: Vec<Cell>,
    /// Per place: 0 free, 1 a message; from 2 on kept for a thread, and after these promises of a thread.
    state: ObjectId,
    value: ObjectId,
    /// Per cell: the global view.
    global: ObjectId,
    /// Per cell: the newest timestamp and its value, if somebody wants to know in the end.
    last: Option<(ObjectId, ObjectId)>,
    /// Spent so far; promises so far; what the last certification cost; who moved last.
    spent: ObjectId,
    made: ObjectId,
    pending: ObjectId,
    active: ObjectId,
    /// A rule that is left out.
    without: Option<Rule>,
}

/// Reduces a program.
pub fn reduce(program: &Program, options: &Options) -> Result<Program, Unsupported> {
    let pairs = cells(program)?;
    let sources: Vec<&Function> =
        program.threads.iter().map(|thread| &program.functions[thread.function.0 as usize]).collect();
    let mut row = 0;
    let mut layout = Vec::new();
    for &(address, init) in &pairs {
        let counts: Vec<i64> =
            sources.iter().map(|source| most_writes(source, address)).collect::<Result<_, _>>()?;
        let writers = (0..counts.len()).filter(|&thread| counts[thread] > 0).collect();
        let stamps = counts.iter().sum();
        layout.push(Cell { address, init, stamps, row, writers });
        row += stamps + 1;
    }
    let mut shared = Shared(Vec::new());
    let mut array = |name: &str, values: Vec<i64>| shared.array(name, values);
    let places = |first: &dyn Fn(&Cell) -> i64| -> Vec<i64> {
        let of =
            |cell: &Cell| (0..=cell.stamps).map(|s| if s == 0 { first(cell) } else { 0 }).collect::<Vec<_>>();
        layout.iter().flat_map(of).collect()
    };
    let asked = matches!(program.property, Property::Final(_));
    let last = asked.then(|| {
        let values = layout.iter().map(|cell| cell.init.as_i64()).collect();
        (array("ps_newest", vec![0; layout.len()]), array("ps_last", values))
    });
    let data = Data {
        bound: i64::from(options.bound),
        promises: i64::from(options.promises),
        threads: program.threads.len() as i64,
        state: array("ps_state", places(&|_| 1)),
        value: array("ps_value", places(&|cell| cell.init.as_i64())),
        global: array("ps_global", vec![0; layout.len()]),
        last,
        spent: array("ps_spent", vec![0]),
        made: array("ps_made", vec![0]),
        pending: array("ps_pending", vec![0]),
        active: array("ps_active", vec![-1]),
        cells: layout,
        without: options.without,
    };
    let mut reduced = program.clone();
    reduced.objects = shared.0;
    reduced.functions.clear();
    for (number, source) in sources.into_iter().enumerate() {
        reduced.functions.push(translate(source, &data, number)?);
        reduced.threads[number].function = FunctionId(number as u32);
    }
    if let Some((_, last)) = data.last {
        observe(&mut reduced, &pairs, last);
    }
    Ok(reduced)
}

/// The largest number of writes to a cell on a way through a thread.
fn most_writes(source: &Function, address: Value) -> Result<i64, Unsupported> {
    let mut most = vec![0; source.body.len() + 1];
    for at in (0..source.body.len()).rev() {
        let next: Vec<usize> = source.body[at].successors(at as u32).map(|to| to as usize).collect();
        if let Some(&back) = next.iter().find(|&&to| to <= at) {
            return Err(Unsupported { what: "a loop".into(), span: source.spans[back] });
        }
        let later = next.into_iter().map(|to| most[to]).max().unwrap_or(0);
        let writes = matches!(&source.body[at], Instr::Store { addr, .. } | Instr::StoreExclusive { addr, .. }
            if *addr == Operand::Const(address));
        most[at] = later + i64::from(writes);
    }
    Ok(most[0])
}
