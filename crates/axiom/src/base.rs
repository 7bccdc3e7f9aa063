//! The events of an unrolled program, and the relations that every model starts from, as literals.
//!
//! Events are those of the unrolled program that may be executed, behind one initial write for each cell that they access.
//! Starting and joining a thread are events without an effect of their own under a language model and full fences under that of a
//! machine, and program order leads through them, as in `naive`. Every pair in a relation implies that both events are
//! executed.
//!
//! ```text
//! loc(a, b)   some cell that both select
//! po(a, b)    both are executed, for a before b; closed through starts and joins
//! rf(w, r)    an input; implies loc(w, r) and equal values; a read that is executed reads from exactly one write
//! co(a, b)    x & loc(a, b), and co(b, a) = !x & loc(a, b), for one input x: total by construction, transitive by clauses
//! ```
//!
//! If the model forbids what is not coherent, pairs that this decides are decided: `co` goes along `po`, nothing reads from a
//! later write of its own thread, or from one that is certainly overwritten before.

mod gateways;
mod sources;

use crate::pairs::Pairs;
use fencepost_bmc::aig::{Graph, Lit};
use fencepost_bmc::formula::Formula;
use fencepost_bmc::symbolic::{CellId, DepId, EventKind as Symbolic, Unrolled};
use fencepost_bmc::word::Word;
use fencepost_bmc::{Limits, StopReason};
use fencepost_ir::{
    Ann, Event, EventKind, Execution, Fence, Instr, Location, ObjectId, Program, Relation, ThreadId, Value,
    Width,
};
use fencepost_models::base::{BaseRelation, BaseSet};
use gateways::Gateways;
use sources::Sources;

/// An event, or the initial write of a cell.
#[derive(Clone, Debug)]
pub struct Vertex {
    /// The event of the unrolled program; none is an initial write.
    pub event: Option<u32>,
    /// Whose.
    pub thread: Option<u32>,
    /// It is executed.
    pub guard: Lit,
    /// Where it accesses memory.
    pub cells: Vec<(CellId, Lit)>,
    /// What it reads or writes.
    pub value: Option<Word>,
}

/// The events with their relations.
#[derive(Debug)]
pub struct Base {
    /// The events, initial writes first.
    pub vertices: Vec<Vertex>,
    /// The vertex of each event of the unrolled program.
    pub vertex_of: Vec<Option<u32>>,
    /// Which events end lives of objects.
    pub ends_lives: Vec<bool>,
    /// The same cell.
    pub loc: Pairs,
    /// Program order.
    pub po: Pairs,
    /// Reads-from.
    pub rf: Pairs,
    /// Coherence.
    pub co: Pairs,
    /// The halves of read-modify-writes.
    pub rmw: Pairs,
    /// Those that one instruction makes.
    amo: Pairs,
    addr: Pairs,
    data: Pairs,
    ctrl: Pairs,
    pick: Pairs,
    pick_addr: Pairs,
    /// The events as a model knows them; and as they are where a compare-exchange fails, with conditions.
    shapes: [Execution; 2],
    fails: Vec<Lit>,
}

/// What the encoding may assume.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What starting and joining a thread is.
    pub thread_fence: Fence,
    /// The model forbids what is not coherent.
    pub coherent: bool,
    /// Dependencies order as the model says; otherwise nothing depends on anything.
    pub dependencies: bool,
}

impl Base {
    /// Makes events and relations; their clauses go to the formula.
    pub fn new(
        program: &Program,
        unrolled: &mut Unrolled,
        options: &Options,
        formula: &mut Formula,
        limits: &Limits,
    ) -> Result<Base, StopReason> {
        let stop = || limits.reached().map_or(Ok(()), Err);
        let (vertices, vertex_of) = vertices(unrolled);
        let n = vertices.len();
        let (shapes, fails) = shapes(program, unrolled, &vertices, options.thread_fence);
        let empty = || Pairs::new(n);
        let ends = |vertex: &Vertex| {
            let event = vertex.event.map(|event| &unrolled.events[event as usize].kind);
            matches!(event, Some(Symbolic::End(_)))
        };
        let mut base = Base {
            ends_lives: vertices.iter().map(ends).collect(),
            loc: empty(),
            po: empty(),
            rf: empty(),
            co: empty(),
            rmw: empty(),
            amo: empty(),
            addr: empty(),
            data: empty(),
            ctrl: empty(),
            pick: empty(),
            pick_addr: empty(),
            vertices,
            vertex_of,
            shapes,
            fails,
        };
        base.same_cells(&mut unrolled.graph);
        stop()?;
        base.program_order(unrolled, formula);
        stop()?;
        base.halves(program, unrolled);
        if options.dependencies {
            base.dependencies(unrolled);
        }
        stop()?;
        base.coherence(&mut unrolled.graph, options.coherent, formula, limits);
        stop()?;
        base.reads_from(unrolled, options.coherent, formula, limits);
        stop()?;
        Ok(base)
    }

    /// The events and relations of one execution, whose `rf` and `co` are inputs that clauses fix: what a model says of it can be
    /// compared with what the interpreter says.
    pub fn of_execution(execution: &Execution, graph: &mut Graph, formula: &mut Formula) -> Base {
        let n = execution.events.len();
        let constant = |relation: &Relation| {
            let mut pairs = Pairs::new(n);
            relation.pairs().for_each(|(a, b)| pairs.push(a as u32, b as u32, Lit::TRUE));
            pairs
        };
        let events = &execution.events;
        let same =
            |a: usize, b: usize| events[a].location.is_some() && events[a].location == events[b].location;
        let loc = Relation::from_fn(n, same);
        let mut chosen = |relation: &Relation, from: EventKind, to: EventKind| {
            let mut pairs = Pairs::new(n);
            for (a, b) in
                loc.pairs().filter(|&(a, b)| a != b && events[a].kind == from && events[b].kind == to)
            {
                let x = graph.input();
                formula.clause(&[x.complement_if(!relation.contains(a, b))]);
                pairs.push(a as u32, b as u32, x);
            }
            pairs
        };
        let vertex = |(number, event): (usize, &Event)| Vertex {
            event: Some(number as u32),
            thread: event.thread.map(|thread| thread.0),
            guard: Lit::TRUE,
            // Which cell does not matter any more.
            cells: event.location.map(|_| (CellId(0), Lit::TRUE)).into_iter().collect(),
            value: None,
        };
        Base {
            rf: chosen(&execution.rf, EventKind::Write, EventKind::Read),
            co: chosen(&execution.co, EventKind::Write, EventKind::Write),
            vertices: events.iter().enumerate().map(vertex).collect(),
            vertex_of: (0..n as u32).map(Some).collect(),
            ends_lives: vec![false; n],
            loc: constant(&loc),
            po: constant(&execution.po),
            rmw: constant(&execution.rmw),
            amo: constant(&execution.amo),
            addr: constant(&execution.addr),
            data: constant(&execution.data),
            ctrl: constant(&execution.ctrl),
            pick: constant(&execution.pick),
            pick_addr: constant(&execution.pick_addr),
            shapes: [execution.clone(), execution.clone()],
            fails: vec![Lit::FALSE; n],
        }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// True if nothing happens.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Both are executed.
    pub fn executed(&self, graph: &mut Graph, a: u32, b: u32) -> Lit {
        graph.and(self.vertices[a as usize].guard, self.vertices[b as usize].guard)
    }

    /// Whether an event reads.
    pub fn is_read(&self, vertex: u32) -> bool {
        self.shapes[0].events[vertex as usize].kind == EventKind::Read
    }

    /// Whether an event writes.
    pub fn is_write(&self, vertex: u32) -> bool {
        self.shapes[0].events[vertex as usize].kind == EventKind::Write
    }

    fn same_cells(&mut self, graph: &mut Graph) {
        let n = self.len() as u32;
        for a in 0..n {
            for b in 0..n {
                let lit = match a <= b {
                    true => self.common_cell(graph, a, b),
                    false => self.loc.get(b, a),
                };
                self.loc.push(a, b, lit);
            }
        }
    }

    fn common_cell(&self, graph: &mut Graph, a: u32, b: u32) -> Lit {
        let (a, b) = (&self.vertices[a as usize], &self.vertices[b as usize]);
        let mut common = Vec::new();
        for (cell, first) in &a.cells {
            for (_, second) in b.cells.iter().filter(|(other, _)| other == cell) {
                common.push(graph.and(*first, *second));
            }
        }
        let some = graph.or_all(&common);
        if some == Lit::FALSE {
            return Lit::FALSE;
        }
        let both = graph.and(a.guard, b.guard);
        graph.and(both, some)
    }

    /// `po`: in threads, and closed through starts and joins.
    fn program_order(&mut self, unrolled: &mut Unrolled, formula: &mut Formula) {
        let gateways = Gateways::new(self, unrolled);
        let n = self.len() as u32;
        for a in 0..n {
            let enter = gateways.from(self, &mut unrolled.graph, a);
            for b in 0..n {
                let lit = match self.vertices[a as usize].thread == self.vertices[b as usize].thread {
                    _ if self.vertices[a as usize].thread.is_none() => Lit::FALSE,
                    true if a < b => self.executed(&mut unrolled.graph, a, b),
                    _ => gateways.to(self, &mut unrolled.graph, &enter, a, b),
                };
                if a == b {
                    // Nobody waits for the own end.
                    formula.clause(&[!lit]);
                } else {
                    self.po.push(a, b, lit);
                }
            }
        }
    }

    /// `rmw`: what gives up a mutex looks at it first, but not in one step.
    fn halves(&mut self, program: &Program, unrolled: &mut Unrolled) {
        for (number, vertex) in (0u32..).zip(&self.vertices) {
            let Some(event) = vertex.event.map(|event| &unrolled.events[event as usize]) else { continue };
            let Symbolic::Write { rmw: Some(read), .. } = event.kind else { continue };
            let made_by = instruction(program, event.function, event.pc);
            let unlocks = matches!(made_by, Some(Instr::Unlock(_)));
            if let Some(read) = self.vertex_of[read.0 as usize].filter(|_| !unlocks) {
                let both = unrolled.graph.and(vertex.guard, self.vertices[read as usize].guard);
                self.rmw.push(read, number, both);
                if !matches!(made_by, Some(Instr::StoreExclusive { .. })) {
                    self.amo.push(read, number, both);
                }
            }
        }
    }

    fn dependencies(&mut self, unrolled: &mut Unrolled) {
        let Unrolled { deps, graph, events, .. } = unrolled;
        let mut sources = Sources { known: vec![None; deps.len()] };
        for b in 0..self.len() as u32 {
            let Some(event) = self.vertices[b as usize].event else { continue };
            let event = &events[event as usize];
            let control = event.control;
            let (address, data) = match &event.kind {
                Symbolic::Read { access, .. } => (Some(access.address), None),
                Symbolic::Write { access, data, .. } => (Some(access.address), Some(*data)),
                _ => (None, None),
            };
            let mut relate = |ids: &[DepId], pairs: &mut Pairs, graph: &mut Graph| {
                for &id in ids {
                    for (read, when) in sources.of(deps, graph, id) {
                        let Some(a) = self.vertex_of[read as usize] else { continue };
                        let both =
                            graph.and(self.vertices[a as usize].guard, self.vertices[b as usize].guard);
                        let lit = graph.and(both, when);
                        pairs.add(graph, a, b, lit);
                    }
                }
            };
            relate(&[control.data], &mut self.ctrl, graph);
            relate(&[control.pick], &mut self.pick, graph);
            if let Some(address) = address {
                relate(&[address.data], &mut self.addr, graph);
                relate(&[address.pick], &mut self.pick_addr, graph);
                relate(&[address.pick], &mut self.pick, graph);
            }
            if let Some(data) = data {
                relate(&[data.data], &mut self.data, graph);
                relate(&[data.pick], &mut self.pick, graph);
            }
        }
    }

    /// Where a limit is reached the formula is not whole; so below.
    fn coherence(&mut self, graph: &mut Graph, coherent: bool, formula: &mut Formula, limits: &Limits) {
        let writes: Vec<u32> = (0..self.len() as u32).filter(|&v| self.is_write(v)).collect();
        for (i, &a) in writes.iter().enumerate() {
            for &b in &writes[i + 1..] {
                let loc = self.loc.get(a, b);
                if loc == Lit::FALSE {
                    continue;
                }
                let first = |po: Lit| coherent && po != Lit::FALSE && graph.surely_implies(loc, po);
                let x = match self.vertices[a as usize].thread.is_none() || first(self.po.get(a, b)) {
                    true => Lit::TRUE,
                    false if first(self.po.get(b, a)) => Lit::FALSE,
                    false => graph.input(),
                };
                let (there, back) = (graph.and(x, loc), graph.and(!x, loc));
                self.co.set(a, b, there);
                self.co.set(b, a, back);
            }
        }
        // A total order is transitive if it has no cycle of three.
        for (i, &a) in writes.iter().enumerate() {
            if limits.reached().is_some() {
                return;
            }
            for (j, &b) in writes.iter().enumerate().skip(i + 1) {
                let (ab, ba) = (self.co.get(a, b), self.co.get(b, a));
                if ab == Lit::FALSE && ba == Lit::FALSE {
                    continue;
                }
                for &c in &writes[j + 1..] {
                    formula.clause(&[!ab, !self.co.get(b, c), !self.co.get(c, a)]);
                    formula.clause(&[!ba, !self.co.get(c, b), !self.co.get(a, c)]);
                }
            }
        }
    }

    fn reads_from(
        &mut self,
        unrolled: &mut Unrolled,
        coherent: bool,
        formula: &mut Formula,
        limits: &Limits,
    ) {
        for read in 0..self.len() as u32 {
            if limits.reached().is_some() {
                return;
            }
            if !self.is_read(read) {
                continue;
            }
            let sources: Vec<u32> = self.sources(&unrolled.graph, read, coherent);
            let guard = self.vertices[read as usize].guard;
            let mut from: Vec<(u32, Lit)> = Vec::new();
            for &write in &sources {
                let loc = self.loc.get(write, read);
                let x = if sources.len() == 1 { guard } else { unrolled.graph.input() };
                formula.clause(&[!x, loc]);
                if let (Some(value), Some(read)) =
                    (&self.vertices[write as usize].value, &self.vertices[read as usize].value)
                {
                    formula.equal_if(x, &read.pairs(value));
                }
                for &(_, other) in &from {
                    formula.clause(&[!x, !other]);
                }
                from.push((write, x));
                self.rf.set(write, read, x);
            }
            let some = from.iter().map(|(_, x)| *x).chain([!guard]).collect::<Vec<_>>();
            formula.clause(&some);
            self.without_value(unrolled, read, &from, formula);
        }
    }

    /// A read finds nothing if it reads the initial write of a cell that has no initial value.
    fn without_value(&self, unrolled: &Unrolled, read: u32, from: &[(u32, Lit)], formula: &mut Formula) {
        let event = self.vertices[read as usize].event.map(|event| &unrolled.events[event as usize].kind);
        let Some(&Symbolic::Read { undefined, .. }) = event else { return };
        let of_nothing = |&&(write, _): &&(u32, Lit)| {
            let write = &self.vertices[write as usize];
            write.thread.is_none() && write.value.is_none()
        };
        let mut some = vec![!undefined];
        for &(_, x) in from.iter().filter(of_nothing) {
            formula.clause(&[!x, undefined]);
            some.push(x);
        }
        formula.clause(&some);
    }

    /// The writes that an event may read from.
    fn sources(&self, graph: &Graph, read: u32, coherent: bool) -> Vec<u32> {
        let same = |write: &u32| self.is_write(*write) && self.loc.get(*write, read) != Lit::FALSE;
        let mut sources: Vec<u32> = (0..self.len() as u32).filter(same).collect();
        if coherent {
            let all = sources.clone();
            sources.retain(|&write| {
                let loc = self.loc.get(write, read);
                let surely = |lit: Lit| lit != Lit::FALSE && graph.surely_implies(loc, lit);
                // In between in all executions in which the two meet.
                let hides = |other: u32| {
                    other != write
                        && surely(self.loc.get(other, read))
                        && surely(self.po.get(other, read))
                        && surely(self.co.get(write, other))
                };
                !surely(self.po.get(read, write)) && !all.iter().any(|&other| hides(other))
            });
        }
        sources
    }

    /// The condition under which an event is in a base set.
    pub fn member(&self, graph: &mut Graph, set: BaseSet, vertex: u32) -> Lit {
        let of_kind = |i: usize| set.contains(&self.shapes[i], vertex as usize);
        let guard = self.vertices[vertex as usize].guard;
        match set {
            BaseSet::Final => {
                let later: Vec<Lit> = self.co.row(vertex).iter().map(|(_, lit)| *lit).collect();
                let later = graph.or_all(&later);
                if self.is_write(vertex) { graph.and(guard, !later) } else { Lit::FALSE }
            }
            BaseSet::Rmw | BaseSet::SpinlockTaken | BaseSet::Exclusive => {
                let before = (0..self.len() as u32).map(|a| self.rmw.get(a, vertex));
                let halves: Vec<Lit> =
                    self.rmw.row(vertex).iter().map(|(_, lit)| *lit).chain(before).collect();
                let half = graph.or_all(&halves);
                match set {
                    BaseSet::Rmw => half,
                    BaseSet::SpinlockTaken => {
                        let role = BaseSet::Role(fencepost_ir::Role::Spinlock);
                        let lock = role.contains(&self.shapes[0], vertex as usize);
                        if lock { half } else { Lit::FALSE }
                    }
                    _ if BaseSet::Reservation.contains(&self.shapes[0], vertex as usize) => guard,
                    _ => half,
                }
            }
            _ => match (of_kind(0), of_kind(1)) {
                (false, false) => Lit::FALSE,
                (true, true) => guard,
                (first, _) => {
                    let fails = self.fails[vertex as usize];
                    graph.and(guard, fails.complement_if(first))
                }
            },
        }
    }

    /// A base relation; nothing for one that is not known of symbolic events.
    pub fn relation(&self, graph: &mut Graph, relation: BaseRelation) -> Option<Pairs> {
        let mut all = |holds: &dyn Fn(&Vertex, &Vertex) -> bool| {
            let mut pairs = Pairs::new(self.len());
            for a in 0..self.len() as u32 {
                for b in 0..self.len() as u32 {
                    if holds(&self.vertices[a as usize], &self.vertices[b as usize]) {
                        pairs.push(a, b, self.executed(graph, a, b));
                    }
                }
            }
            pairs
        };
        Some(match relation {
            BaseRelation::Int => all(&|a, b| a.thread == b.thread),
            BaseRelation::Ext => all(&|a, b| a.thread != b.thread),
            BaseRelation::Id => self.identity(|_| true),
            // No access is in parts here.
            BaseRelation::SameAccess => self.identity(|vertex| !vertex.cells.is_empty()),
            BaseRelation::Po => self.po.clone(),
            BaseRelation::Loc => self.loc.clone(),
            BaseRelation::Rf => self.rf.clone(),
            BaseRelation::Co => self.co.clone(),
            BaseRelation::Rmw => self.rmw.clone(),
            BaseRelation::Amo => self.amo.clone(),
            BaseRelation::Addr => self.addr.clone(),
            BaseRelation::Data => self.data.clone(),
            BaseRelation::Ctrl => self.ctrl.clone(),
            BaseRelation::Pick => self.pick.clone(),
            BaseRelation::PickAddr => self.pick_addr.clone(),
            BaseRelation::RcuSections => return None,
        })
    }

    fn identity(&self, holds: impl Fn(&Vertex) -> bool) -> Pairs {
        let mut pairs = Pairs::new(self.len());
        for (number, vertex) in (0u32..).zip(&self.vertices).filter(|(_, vertex)| holds(vertex)) {
            pairs.push(number, number, vertex.guard);
        }
        pairs
    }
}

fn instruction(program: &Program, function: u32, pc: u32) -> Option<&Instr> {
    program.functions.get(function as usize)?.body.get(pc as usize)
}

/// The initial writes of all cells that events may access, and the events that may be executed.
fn vertices(unrolled: &Unrolled) -> (Vec<Vertex>, Vec<Option<u32>>) {
    let accessed = |event: &fencepost_bmc::symbolic::Event| match &event.kind {
        Symbolic::Read { access, .. } | Symbolic::Write { access, .. } if event.guard != Lit::FALSE => {
            access.cells.clone()
        }
        _ => Vec::new(),
    };
    let mut cells: Vec<CellId> = unrolled
        .events
        .iter()
        .flat_map(accessed)
        .filter(|(_, lit)| *lit != Lit::FALSE)
        .map(|(cell, _)| cell)
        .collect();
    cells.sort_unstable();
    cells.dedup();
    let initial = |cell: CellId| Vertex {
        event: None,
        thread: None,
        guard: Lit::TRUE,
        cells: vec![(cell, Lit::TRUE)],
        value: unrolled.cells[cell.0 as usize].initial.clone(),
    };
    let mut vertices: Vec<Vertex> = cells.into_iter().map(initial).collect();
    let mut vertex_of = vec![None; unrolled.events.len()];
    for (number, event) in (0u32..).zip(&unrolled.events) {
        if event.guard == Lit::FALSE {
            continue;
        }
        vertex_of[number as usize] = Some(vertices.len() as u32);
        let value = match &event.kind {
            Symbolic::Read { value, .. } | Symbolic::Write { value, .. } => Some(value.clone()),
            _ => None,
        };
        let (thread, guard, cells) = (Some(event.thread.0), event.guard, accessed(event));
        vertices.push(Vertex { event: Some(number), thread, guard, cells, value });
    }
    (vertices, vertex_of)
}

/// The events as a model knows them, without relations: as annotated, and as they are where a compare-exchange fails; and
/// under which condition each is the latter.
fn shapes(
    program: &Program,
    unrolled: &Unrolled,
    vertices: &[Vertex],
    thread_fence: Fence,
) -> ([Execution; 2], Vec<Lit>) {
    let anywhere = Location { object: ObjectId(0), offset: 0 };
    let mut events: [Vec<Event>; 2] = [Vec::new(), Vec::new()];
    let mut fails = Vec::new();
    for vertex in vertices {
        let event = vertex.event.map(|event| &unrolled.events[event as usize]);
        let (kind, ann, otherwise) = match event.map(|event| &event.kind) {
            None => (EventKind::Write, Ann::PLAIN, None),
            Some(Symbolic::Read { access, .. }) => (EventKind::Read, access.ann, access.otherwise),
            Some(Symbolic::Write { access, .. }) => (EventKind::Write, access.ann, None),
            Some(Symbolic::Fence(fence)) => (EventKind::Fence(*fence), Ann::PLAIN, None),
            Some(Symbolic::Spawn(_) | Symbolic::Join(_)) => {
                (EventKind::Fence(thread_fence), Ann::PLAIN, None)
            }
            Some(Symbolic::End(_)) => (EventKind::Fence(Fence::Compiler), Ann::PLAIN, None),
        };
        let made_by = event.and_then(|event| instruction(program, event.function, event.pc));
        let amo = matches!(
            made_by,
            Some(
                Instr::Rmw { .. }
                    | Instr::AwaitRmw { .. }
                    | Instr::CompareExchange { .. }
                    | Instr::Lock(_)
                    | Instr::TryLock { .. }
            )
        );
        let (fail, other) = otherwise.unwrap_or((Lit::FALSE, ann));
        fails.push(fail);
        for (list, ann) in events.iter_mut().zip([ann, other]) {
            list.push(Event {
                thread: vertex.thread.map(ThreadId),
                kind,
                location: (!matches!(kind, EventKind::Fence(_))).then_some(anywhere),
                width: Width::W64,
                value: Value::ZERO,
                ann,
                amo,
                span: event.map(|event| event.span).unwrap_or_default(),
            });
        }
    }
    (events.map(Execution::new), fails)
}
