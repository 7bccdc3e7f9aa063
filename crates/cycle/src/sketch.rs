//! A program of accesses in straight lines, for one architecture: what a test is written from. A cycle is one, and so is an
//! execution that somebody has seen.

use crate::Dialect;
use crate::cycle::{Cycle, location_name};
use crate::edge::{Com, Dep, Dir, Kind, Note, Scope};

/// What stands in front of an access. Reads are known by their places among the accesses of their thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Before {
    /// A fence, as the dialect writes it.
    Fence(&'static str),
    /// A branch that this read decides, and that leads on in any case.
    Branch(usize),
}

/// An access.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its location.
    pub location: usize,
    /// What it does.
    pub dir: Dir,
    /// Its annotation.
    pub note: Note,
    /// What a write writes.
    pub writes: u64,
    /// What a read is to read, if something is said about it.
    pub reads: Option<u64>,
    /// What comes before it.
    pub before: Vec<Before>,
    /// The read that its address depends on.
    pub address: Option<usize>,
    /// The read that its value depends on.
    pub data: Option<usize>,
    /// It is the write of the read-modify-write whose read is the step before it, and how that is made.
    pub rmw: Option<Kind>,
}

/// A program and what it is to show.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// What it is for.
    pub dialect: Dialect,
    /// What each thread does.
    pub threads: Vec<Vec<Step>>,
    /// The names of locations.
    pub names: Vec<String>,
    /// What they hold at first.
    pub initial: Vec<u64>,
    /// What they are to hold in the end, where something is said about it.
    pub finals: Vec<Option<u64>>,
    /// The bytes of each location, if accesses differ in size; else none.
    pub sizes: Option<Vec<u8>>,
}

/// The program of a cycle.
pub(crate) fn of(cycle: &Cycle) -> Sketch {
    let mut threads: Vec<Vec<Step>> = (0..cycle.threads).map(|thread| of_thread(cycle, thread)).collect();
    observe_orders(cycle, &mut threads);
    Sketch {
        dialect: cycle.dialect,
        threads,
        names: (0..cycle.locations).map(location_name).collect(),
        initial: vec![0; cycle.locations],
        finals: cycle.finals.clone(),
        sizes: cycle.sizes.clone(),
    }
}

/// The last value of a location says which write came last. Where it has more than two, a write that comes before one of
/// another thread, which is not the last, is followed by a read that sees the latter.
fn observe_orders(cycle: &Cycle, threads: &mut [Vec<Step>]) {
    for (at, edge) in cycle.edges.iter().enumerate() {
        let (write, next) = (&cycle.accesses[at], &cycle.accesses[(at + 1) % cycle.accesses.len()]);
        let is_between = cycle.finals[next.location].is_some_and(|last| last != next.writes);
        if cycle.sizes.is_none() && edge.kind == Kind::Com(Com::Co, Scope::External) && is_between {
            threads[write.thread].push(Step {
                location: next.location,
                dir: Dir::R,
                note: Note::default(),
                writes: 0,
                reads: Some(next.writes),
                before: Vec::new(),
                address: None,
                data: None,
                rmw: None,
            });
        }
    }
}

fn of_thread(cycle: &Cycle, thread: usize) -> Vec<Step> {
    let dialect = cycle.dialect;
    let mut steps: Vec<Step> = Vec::new();
    for (_, access) in cycle.of_thread(thread) {
        let mut step = Step {
            location: access.location,
            dir: access.dir,
            note: access.note,
            writes: access.writes,
            reads: access.reads,
            before: Vec::new(),
            address: None,
            data: None,
            rmw: access.link.filter(|&kind| crate::edge::is_rmw(kind)),
        };
        let last_read =
            || steps.iter().rposition(|step| step.dir == Dir::R).expect("a dependency begins at a read");
        match access.link {
            Some(Kind::Fence(fence)) => step.before.push(Before::Fence(dialect.fences()[fence].text)),
            Some(Kind::Dep(Dep::Addr)) => step.address = Some(last_read()),
            Some(Kind::Dep(Dep::Data)) => step.data = Some(last_read()),
            Some(Kind::Dep(Dep::Ctrl)) => step.before.push(Before::Branch(last_read())),
            Some(Kind::Dep(Dep::CtrlFence)) => {
                step.before = vec![Before::Branch(last_read()), Before::Fence(dialect.ctrl_fence_text())];
            }
            _ => {}
        }
        steps.push(step);
    }
    steps
}
