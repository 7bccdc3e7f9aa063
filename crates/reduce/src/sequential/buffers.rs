//! Stores that wait, as under TSO, in a sequential program: the masks and queues of `[ABP, Figures 2 to 5]`.
//!
//! A context of a thread is a round. Each thread has a view of memory, and for each of the next k rounds a mask and a queue of
//! the stores
//! that reach memory when that round begins; `lead` says how many rounds ahead the next store is. When a round begins, the first
//! queue goes to
//! memory, the others move down, and the view is renewed where nothing is pending.
//!
//! Reference: `[ABP]` M. F. Atig, A. Bouajjani, G. Parlato, Getting rid of store-buffers in TSO analysis, CAV 2011.

use super::{Printer, operand, others_notice, register, type_of, waits_for_stores};
use crate::c::{bits, extended, runs};
use crate::{Bound, Unsupported};
use fencepost_ir::flat::{Op, Step};
use std::fmt::Write;

/// How many rounds a store may wait.
fn slots(bound: Bound) -> u32 {
    match bound {
        Bound::Rounds(k) | Bound::Age(k) => k,
    }
}

impl Printer<'_> {
    /// Views, masks and queues of each thread, and what the beginning of a round does to them.
    pub(super) fn buffers(&mut self, bound: Bound) {
        let slots = slots(bound);
        for thread in 0..self.flat.threads.len() {
            let mut begin = String::new();
            for index in 0..self.flat.objects.len() {
                let kind = type_of(&self.ranges.cells[index]);
                for run in runs(&self.flat.objects, index) {
                    let (name, length) = (&run.name, run.cells.len());
                    let _ = writeln!(self.out, "static {kind} t{thread}_{name}[{length}];");
                    for slot in 1..=slots {
                        let _ = writeln!(
                            self.out,
                            "static {kind} t{thread}_q{slot}_{name}[{length}]; static _Bool t{thread}_m{slot}_{name}[{length}];"
                        );
                    }
                    for cell in 0..length {
                        let _ = writeln!(begin, "{}", begin_cell(thread, name, cell, slots));
                    }
                }
            }
            let _ = writeln!(self.out, "static unsigned char t{thread}_lead, t{thread}_round;");
            let _ = writeln!(self.out, "static void begin_{thread}(void) {{");
            if let Bound::Rounds(k) = bound {
                let _ = writeln!(self.out, "  __VERIFIER_assume(t{thread}_round <= {k});");
            }
            // The first round has nothing to take over but memory itself.
            let _ = writeln!(
                self.out,
                "  if (t{thread}_lead) t{thread}_lead--;\n{begin}  t{thread}_round++;\n}}\n"
            );
        }
    }

    /// A step whose meaning is another one where stores wait.
    pub(super) fn buffered(&self, thread: usize, step: &Step) -> Result<Option<String>, Unsupported> {
        let empty = format!("__VERIFIER_assume(t{thread}_lead == 0);");
        let width_of = |op: &Op| match op {
            Op::Load { width, .. } | Op::Store { width, .. } => Some(*width),
            _ => None,
        };
        let Some(bound) = self.stores else { return Ok(None) };
        let text = match &step.op {
            Op::Load { dst, addr, width, extend, reserve: false } => {
                let dst = register(thread, *dst);
                self.access(thread, addr, *width, step.span, &|place| {
                    format!("{dst} = {};", extended(*width, *extend, &format!("t{thread}_{place}")))
                })?
            }
            // A locked operation: the buffer is empty, and memory is what counts.
            Op::Load { dst, addr, width, extend, reserve: true } => {
                let dst = register(thread, *dst);
                let read = self.access(thread, addr, *width, step.span, &|place| {
                    format!("{dst} = {};", extended(*width, *extend, &format!("t{thread}_{place}")))
                })?;
                format!("{empty} t{thread}_held = context; {read}")
            }
            Op::Store { addr, value, paired, .. } => {
                let Some(width) = width_of(&step.op) else { return Ok(None) };
                let value = format!("(int{}_t){}", bits(width), operand(thread, value));
                let now = |place: &str| format!("t{thread}_{place} = {value}; {place} = {value};");
                let locked = format!("{empty} __VERIFIER_assume(t{thread}_held == context); ");
                if *paired {
                    locked + &self.access(thread, addr, width, step.span, &now)?
                } else {
                    let places = self.access(thread, addr, width, step.span, &|place| {
                        store(thread, place, &value, slots(bound))
                    })?;
                    advance(thread, bound) + &places
                }
            }
            Op::Fence(fence) if fence.is_full() => empty,
            Op::Spawn(other) => format!("{empty} t{other}_started = 1;"),
            Op::AtomicBegin => format!("{empty} t{thread}_section = 1;"),
            _ => return Ok(None),
        };
        debug_assert!(others_notice(&step.op) || waits_for_stores(&step.op));
        Ok(Some(text))
    }
}

/// What the beginning of a round does to a cell.
fn begin_cell(thread: usize, name: &str, cell: usize, slots: u32) -> String {
    let (mask, queue) = (
        |slot: u32| format!("t{thread}_m{slot}_{name}[{cell}]"),
        |slot: u32| format!("t{thread}_q{slot}_{name}[{cell}]"),
    );
    let mut text = String::new();
    if slots > 0 {
        let _ = writeln!(text, "  if ({}) {name}[{cell}] = {};", mask(1), queue(1));
    }
    for slot in 1..=slots {
        let _ = match slot < slots {
            true => {
                writeln!(
                    text,
                    "  {} = {};\n  {} = {};",
                    mask(slot),
                    mask(slot + 1),
                    queue(slot),
                    queue(slot + 1)
                )
            }
            false => writeln!(text, "  {} = 0;", mask(slot)),
        };
    }
    let pending: Vec<String> = (1..slots.max(1)).map(mask).collect();
    let free = if pending.is_empty() { "1".into() } else { format!("!({})", pending.join(" || ")) };
    text + &format!("  if ({free}) t{thread}_{name}[{cell}] = {name}[{cell}];")
}

/// The next store may be further ahead than the one before.
fn advance(thread: usize, bound: Bound) -> String {
    let slots = slots(bound);
    if slots == 0 {
        return String::new();
    }
    let reach = match bound {
        Bound::Age(_) => format!("t{thread}_lead <= {slots}"),
        // Rounds are counted when they begin.
        Bound::Rounds(_) => format!("t{thread}_lead + t{thread}_round - 1 <= {slots}"),
    };
    format!(
        "if (!t{thread}_section) {{ unsigned char more = __VERIFIER_nondet_uchar(); __VERIFIER_assume(more <= {slots}); \
         t{thread}_lead += more; __VERIFIER_assume({reach}); }} "
    )
}

/// A store goes into the view, and to memory now or into the queue that is `lead` rounds ahead.
fn store(thread: usize, place: &str, value: &str, slots: u32) -> String {
    let mut text = format!("t{thread}_{place} = {value};");
    for slot in 1..=slots {
        let _ = write!(
            text,
            " if (t{thread}_lead == {slot}) {{ t{thread}_q{slot}_{place} = {value}; t{thread}_m{slot}_{place} = 1; }}"
        );
    }
    text + &format!(" if (!t{thread}_lead) {place} = {value};")
}
