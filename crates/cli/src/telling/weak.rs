//! What a weak model did, in words: what the threads saw, which two accesses of which thread were not kept in order, the
//! cycle, and what would forbid it.

use crate::telling::cause::{Cause, Edge, EdgeKind};
use crate::telling::words::{self, list};
use fencepost_ir::{Fence, Order};

/// What the events of an execution are called.
pub trait Names {
    /// Whether it reads.
    fn is_read(&self, event: usize) -> bool;
    /// Its thread.
    fn thread(&self, event: usize) -> String;
    /// Its line.
    fn line(&self, event: usize) -> usize;
    /// `` `ready` = 1``.
    fn what(&self, event: usize) -> String;
    /// `R.acq ready = 1`.
    fn event(&self, event: usize) -> String;
}

/// What a weak model did.
pub struct Weak<'a> {
    /// The names of the events.
    pub names: &'a dyn Names,
    /// The model.
    pub model: &'a str,
    /// The cycle.
    pub cause: &'a Cause,
}

impl Weak<'_> {
    /// `` `ready` = 1 (line 17)``.
    fn access(&self, event: usize) -> String {
        format!("{} (line {})", self.names.what(event), self.names.line(event))
    }

    fn pairs(&self) -> impl Iterator<Item = &Edge> {
        self.cause.cycle.iter().filter(|edge| edge.kind == EdgeKind::Po)
    }

    /// What the threads saw, and what was not kept in order.
    pub fn sentence(&self) -> String {
        let mut seen: Vec<String> = Vec::new();
        for edge in self.pairs() {
            let (thread, from, to) =
                (self.names.thread(edge.from), self.access(edge.from), self.access(edge.to));
            match (self.names.is_read(edge.from), self.names.is_read(edge.to)) {
                (true, true) => seen.push(format!("{thread} saw {from} but {to}")),
                (false, true) => seen.push(format!("{thread} wrote {from} and then read {to}")),
                (true, false) => seen.push(format!("{thread} saw {from} and then wrote {to}")),
                (false, false) => {}
            }
        }
        if seen.is_empty() {
            let wrote = self.pairs().map(|edge| {
                let (from, to) = (self.access(edge.from), self.access(edge.to));
                format!("{} wrote {from} and then {to}", self.names.thread(edge.from))
            });
            seen.extend(wrote);
        }
        let open = self.cause.open.iter().enumerate();
        let blame: Vec<String> = open.map(|(i, &pair)| self.blame(pair, self.spreads(i))).collect();
        if blame.is_empty() {
            return seen.join(", while ");
        }
        let spread = (0..self.cause.open.len()).filter(|&i| self.spreads(i)).count();
        let because = match (spread, self.cause.open.len()) {
            (0, 1) => "nothing orders these two",
            (0, _) => "nothing orders them",
            (1, 1) => "only a full fence makes it wait",
            (spread, all) if spread == all => "only full fences make them wait",
            _ => "no fence there is strong enough",
        };
        let allows = format!("{} allows this because {because}", self.model);
        format!("{}: {}; {allows}", seen.join(", while "), blame.join(", and "))
    }

    /// Whether keeping the two accesses of an open pair in order would not be enough: it takes a full fence, although what
    /// comes first is no store before a load. Then the first one had not reached all threads when the second one was done.
    fn spreads(&self, open: usize) -> bool {
        let (from, to) = self.cause.open[open];
        let delayed = !self.names.is_read(from) && self.names.is_read(to);
        let full = matches!(self.cause.fences.get(open), Some(Fence::Sync | Fence::C11(Order::SeqCst)));
        full && !delayed
    }

    /// What went out of order.
    fn blame(&self, (from, to): (usize, usize), spreads: bool) -> String {
        let (thread, first, second) = (self.names.thread(from), self.names.line(from), self.names.line(to));
        if spreads {
            let before = if first == second { String::new() } else { format!(" before line {second}") };
            let did = if self.names.is_read(from) { "seen" } else { "written" };
            return format!(
                "{thread} did not wait{before} until what it had {did} at line {first} had reached all threads"
            );
        }
        match (self.names.is_read(from), self.names.is_read(to)) {
            (false, false) => {
                format!("the two stores of {thread}, {}, reached others out of order", both(first, second))
            }
            (true, true) => {
                format!("the two loads of {thread}, {}, were done out of order", both(first, second))
            }
            (false, true) => {
                format!(
                    "the load of {thread} at line {second} was done before its store at line {first} reached others"
                )
            }
            (true, false) => {
                format!(
                    "the store of {thread} at line {second} reached others before its load at line {first} was done"
                )
            }
        }
    }

    /// The cycle, and what would forbid it.
    pub fn why(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut cycle = String::from("the cycle: ");
        for edge in &self.cause.cycle {
            let event = self.names.event(edge.from);
            cycle += &format!("{event} (line {}) -{}-> ", self.names.line(edge.from), edge.kind.name());
        }
        let first = self.cause.cycle.first().map_or(0, |edge| edge.from);
        lines.push(format!("{cycle}line {}", self.names.line(first)));
        let kept = self.pairs().filter(|edge| !self.cause.open.contains(&(edge.from, edge.to)));
        for edge in kept {
            let (thread, from, to) =
                (self.names.thread(edge.from), self.names.line(edge.from), self.names.line(edge.to));
            // Without axioms it is the run that says so.
            let does = if self.cause.fences.is_empty() { "did" } else { "keeps" };
            lines.push(match from == to {
                true => format!("{thread} {does} its two accesses of line {from} in order"),
                false => format!("{thread} {does} lines {from} and {to} in order"),
            });
        }
        if !self.cause.fences.is_empty() {
            let place = |(&(from, to), fence): (&(usize, usize), _)| {
                let (first, second) = (self.names.line(from), self.names.line(to));
                let (fence, thread) = (words::written(fence), self.names.thread(from));
                match first == second {
                    true => format!("{fence} between the two accesses of {thread} at line {first}"),
                    false => format!("{fence} between lines {first} and {second} of {thread}"),
                }
            };
            let fences = self.cause.open.iter().zip(self.cause.fences.iter().copied());
            let fences: Vec<String> = fences.map(place).collect();
            let axioms: Vec<String> = self.cause.axioms.iter().map(|axiom| format!("`{axiom}`")).collect();
            lines.push(format!(
                "with {} the axiom {} of {} would forbid it",
                list(&fences),
                list(&axioms),
                self.model
            ));
        }
        lines
    }
}

/// `lines 6 and 7`, or `both at line 6`.
fn both(first: usize, second: usize) -> String {
    match first == second {
        true => format!("both at line {first}"),
        false => format!("lines {first} and {second}"),
    }
}
