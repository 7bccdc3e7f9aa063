//! Flat threads run once with symbolic values: guards, addresses and values of all events. What orders the events is the business
//! of a [`Memory`].
//!
//! Every step is visited once, in the order of the list, with the merge of all ways that lead to it. Reads return what the memory
//! says, usually new
//! variables; how many bits they need is found by running again until no cell gets wider ([`Shapes`]).

use crate::aig::{Graph, Lit};
use crate::arithmetic;
use crate::formula::Formula as Clauses;
use crate::limits::Limits;
use crate::outcome::{Failed, Unsupported};
use crate::shape::Shape;
use crate::word::Word;
use fencepost_ir::flat::{Flat, Op};
use fencepost_ir::{Extend, FailKind, Fence, ObjectId, Operand, Reg, Rvalue, Span, Value, Width};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Cells of memory by number.
pub struct Cells {
    /// Object, offset and width of each.
    pub list: Vec<(u32, u32, Width)>,
    /// Initial values; `None` is uninitialised: nobody may read it.
    pub initial: Vec<Option<Value>>,
    by_address: FxHashMap<(u64, Width), usize>,
}

impl Cells {
    /// The cells of a program; an error for cells that overlap.
    pub fn new(flat: &Flat) -> Result<Cells, Unsupported> {
        let (mut list, mut initial, mut by_address) = (Vec::new(), Vec::new(), FxHashMap::default());
        for (o, object) in (0u32..).zip(&flat.objects) {
            let mut end = 0;
            for cell in &object.cells {
                if cell.offset < end {
                    let what = format!("the cells of `{}` overlap", object.name);
                    return Err(Unsupported { what, span: object.span });
                }
                end = cell.offset + cell.width.bytes();
                let address = Value::pointer(ObjectId(o), cell.offset);
                by_address.insert((address.0, cell.width), list.len());
                list.push((o, cell.offset, cell.width));
                initial.push(cell.init.map(|value| cell.width.zero_extend(value)));
            }
        }
        Ok(Cells { list, initial, by_address })
    }

    /// What is in memory at the start, and whether it is a value; what is none does not matter.
    pub fn initial_words(&self) -> Vec<(Word, Lit)> {
        let word = |value: &Option<Value>| match value {
            Some(value) => (Word::constant(*value), Lit::TRUE),
            None => (zero(), Lit::FALSE),
        };
        self.initial.iter().map(word).collect()
    }

    /// The address of a cell.
    pub fn address(&self, cell: usize) -> Value {
        Value::pointer(ObjectId(self.list[cell].0), self.list[cell].1)
    }

    /// The cell at an address.
    pub fn at(&self, address: Value, width: Width) -> Option<usize> {
        self.by_address.get(&(address.0, width)).copied()
    }

    /// The cells that an address may be, each with the condition that it is.
    pub fn matching(&self, graph: &mut Graph, address: &Word, width: Width) -> Vec<(usize, Lit)> {
        if let Some(value) = address.as_constant() {
            return self.at(value, width).map(|cell| (cell, Lit::TRUE)).into_iter().collect();
        }
        let mut found = Vec::new();
        for (cell, &(_, _, its)) in self.list.iter().enumerate() {
            if its == width {
                let same = address.is(graph, self.address(cell));
                if same != Lit::FALSE {
                    found.push((cell, same));
                }
            }
        }
        found
    }
}

/// What is known about cells from an earlier run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shapes {
    /// How large values in each cell are.
    pub shapes: Vec<Shape>,
    /// The threads that may write each cell, as bits.
    pub writers: Vec<u64>,
    /// The threads that may access each cell.
    pub users: Vec<u64>,
}

impl Shapes {
    fn new(cells: &Cells) -> Shapes {
        let shape = |cell: usize| Shape::Values(vec![cells.initial[cell].unwrap_or_default().0]);
        let n = cells.list.len();
        Shapes { shapes: (0..n).map(shape).collect(), writers: vec![0; n], users: vec![0; n] }
    }
}

/// Something that must not happen.
#[derive(Clone, Debug)]
pub struct Bad {
    /// The thread.
    pub thread: usize,
    /// The step.
    pub step: usize,
    /// It happens.
    pub when: Lit,
    /// Of which kind.
    pub kind: FailKind,
    /// In words.
    pub message: String,
    /// In the source.
    pub span: Span,
}

/// What a run produces: a formula and what its parts mean.
#[derive(Default)]
pub struct Formula {
    /// The graph.
    pub graph: Graph,
    /// Clauses that must hold.
    pub clauses: Clauses,
    /// What must not happen.
    pub bad: Vec<Bad>,
    /// Choices: thread, step and value.
    pub choices: Vec<(usize, usize, Word)>,
    /// Ways: thread and step of a branch, an assumption or an assertion, whether it is on the way, and its condition.
    pub branches: Vec<(usize, usize, Lit, Lit)>,
    /// Each thread runs to its end.
    pub ended: Vec<Lit>,
    /// Registers of each thread at its end.
    pub registers: Vec<BTreeMap<u32, Word>>,
    /// Some thread reaches the unroll bound.
    pub cut: Vec<Lit>,
}

/// Zero.
pub(crate) fn zero() -> Word {
    Word::constant(Value::ZERO)
}

impl Formula {
    /// Demands that two words are equal where a condition holds.
    pub fn equal_if(&mut self, condition: Lit, a: &Word, b: &Word) {
        self.clauses.equal_if(condition, &a.pairs(b));
    }

    /// Demands that one of the literals is true.
    pub fn require(&mut self, lits: impl AsRef<[Lit]>) {
        self.clauses.clause(lits.as_ref());
    }
}

/// An access, as a memory sees it.
pub struct Access<'a, T> {
    /// The thread.
    pub thread: usize,
    /// The step.
    pub step: usize,
    /// It happens.
    pub guard: Lit,
    /// The cells that it may hit, with conditions.
    pub cells: Vec<(usize, Lit)>,
    /// What its address depends on.
    pub address: &'a T,
    /// Takes (load) or needs (store) a reservation.
    pub exclusive: bool,
}

/// What orders events, and what reads read.
pub trait Memory {
    /// What a register depends on.
    type Tag: Clone;
    /// What a thread knows at a place.
    type State: Clone;

    /// A register that depends on no read.
    fn constant(&self) -> Self::Tag;
    /// A value that depends on both.
    fn both(&mut self, formula: &mut Formula, a: &Self::Tag, b: &Self::Tag) -> Self::Tag;
    /// Where two ways meet; the first was taken if the condition holds.
    fn merge_tag(&mut self, formula: &mut Formula, c: Lit, a: &Self::Tag, b: &Self::Tag) -> Self::Tag;
    /// Where two ways meet.
    fn merge(&mut self, formula: &mut Formula, c: Lit, a: &Self::State, b: &Self::State) -> Self::State;
    /// A thread begins.
    fn start(&mut self, formula: &mut Formula, thread: usize) -> Self::State;
    /// A load: the value in the cell, not extended, what it depends on, and whether the cell has a value.
    fn load(
        &mut self,
        formula: &mut Formula,
        access: &Access<'_, Self::Tag>,
        state: &mut Self::State,
    ) -> (Word, Self::Tag, Lit);
    /// A store.
    fn store(
        &mut self,
        formula: &mut Formula,
        access: &Access<'_, Self::Tag>,
        value: (&Word, &Self::Tag),
        state: &mut Self::State,
    );
    /// A fence.
    fn fence(
        &mut self,
        formula: &mut Formula,
        at: (usize, usize),
        guard: Lit,
        fence: Fence,
        state: &mut Self::State,
    );
    /// A branch or an assumption on something.
    fn branch(
        &mut self,
        formula: &mut Formula,
        at: (usize, usize),
        guard: Lit,
        on: &Self::Tag,
        state: &mut Self::State,
    );
    /// An assertion fails here: whether that counts.
    fn fails(
        &mut self,
        formula: &mut Formula,
        at: (usize, usize),
        guard: Lit,
        on: &Self::Tag,
        state: &Self::State,
    ) -> Lit;
    /// Whether a thread goes on after an event; other threads may stop anywhere if nothing demands that they end.
    fn goes_on(&mut self, _formula: &mut Formula, _at: (usize, usize)) -> Lit {
        Lit::TRUE
    }
    /// A step takes part in the order; `main` alone does not.
    fn is_ordered(&self, _thread: usize, _step: usize) -> bool {
        true
    }
    /// A step that is fetched, and takes no other part in the order.
    fn fetched(&mut self, formula: &mut Formula, at: (usize, usize), guard: Lit);
    /// Nothing is done behind an assertion that is false.
    fn ends_at_assertions(&self, thread: usize, step: usize) -> bool;
    /// A thread starts another.
    fn spawn(&mut self, at: (usize, usize), guard: Lit, child: usize, state: &mut Self::State);
    /// A thread waits for another.
    fn join(
        &mut self,
        formula: &mut Formula,
        at: (usize, usize),
        guard: Lit,
        child: usize,
        state: &mut Self::State,
    );
    /// A thread is at its end.
    fn end(&mut self, formula: &mut Formula, thread: usize, guard: Lit, state: &Self::State);
    /// What is known about cells from the run before.
    fn shapes(&self) -> &Shapes;
}

/// After so many runs sets of values become numbers of bits, and after more of them these become whole cells.
const WIDEN_VALUES: u32 = 3;
const WIDEN_BITS: u32 = 8;

/// A way through a thread.
struct Path<M: Memory> {
    guard: Lit,
    regs: BTreeMap<u32, (Word, M::Tag)>,
    state: M::State,
}

/// Runs all threads again and again until shapes are known; `make` gives a new memory. The last run counts.
pub fn run<M: Memory>(
    flat: &Flat,
    cells: &Cells,
    observe: bool,
    limits: Limits,
    mut make: impl FnMut(&mut Formula, &Shapes) -> M,
) -> Result<(Formula, M), Failed> {
    let mut shapes = Shapes::new(cells);
    for round in 0u32.. {
        let mut formula = Formula { graph: Graph::new(), ..Formula::default() };
        let memory = make(&mut formula, &shapes);
        let threads = flat.threads.len();
        let mut runner = Runner {
            flat,
            cells,
            formula,
            memory,
            next: shapes.clone(),
            started: vec![Lit::TRUE; threads],
            last_use: Vec::new(),
            ends: vec![None; threads],
            observe,
            limits,
        };
        for thread in 0..flat.threads.len() {
            runner.thread(thread)?;
        }
        runner.finish();
        if runner.next == shapes {
            return Ok((runner.formula, runner.memory));
        }
        shapes = runner.next;
        // Counters grow by a bit each time: after a while give them all they may need.
        for (shape, (_, _, width)) in shapes.shapes.iter_mut().zip(&cells.list) {
            *shape = match (round, &shape) {
                (WIDEN_BITS.., Shape::Bits { len: 5.., .. }) => Shape::any(*width),
                (WIDEN_VALUES.., Shape::Values(values)) if values.len() > 4 => shape.without_values(),
                _ => continue,
            };
        }
    }
    unreachable!("the loop ends by itself")
}

/// What joins wait for: the condition that the thread has ended, and its result.
type End = Option<(Lit, Word)>;

struct Runner<'a, M: Memory> {
    flat: &'a Flat,
    cells: &'a Cells,
    formula: Formula,
    memory: M,
    next: Shapes,
    started: Vec<Lit>,
    last_use: Vec<usize>,
    ends: Vec<End>,
    /// The registers of the outermost functions matter at the end.
    observe: bool,
    limits: Limits,
}

impl<M: Memory> Runner<'_, M> {
    fn thread(&mut self, thread: usize) -> Result<(), Failed> {
        let code = &self.flat.threads[thread].code;
        self.find_last_uses(thread);
        let state = self.memory.start(&mut self.formula, thread);
        let mut pending: BTreeMap<usize, Path<M>> = BTreeMap::new();
        let runs = self.memory.goes_on(&mut self.formula, (thread, 0));
        let guard = self.formula.graph.and(self.started[thread], runs);
        let first = Path { guard, regs: BTreeMap::new(), state };
        pending.insert(0, first);
        let mut finished = None;
        while let Some((at, mut path)) = pending.pop_first() {
            if at == code.len() {
                finished = Some(path);
                break;
            }
            if let Some(reason) = (at % 64 == 0).then(|| self.limits.reached()).flatten() {
                return Err(reason.into());
            }
            let step = &code[at];
            match step.op {
                Op::Branch { condition, other } => {
                    self.memory.fetched(&mut self.formula, (thread, at), path.guard);
                    let (word, tag) = self.operand(&path, condition);
                    let taken = word.is_true(&mut self.formula.graph);
                    self.memory.branch(&mut self.formula, (thread, at), path.guard, &tag, &mut path.state);
                    self.formula.branches.push((thread, at, path.guard, taken));
                    let yes = self.formula.graph.and(path.guard, taken);
                    let no = self.formula.graph.and(path.guard, !taken);
                    let copy = Path { guard: no, regs: path.regs.clone(), state: path.state.clone() };
                    path.guard = yes;
                    self.arrive(&mut pending, step.next as usize, path);
                    self.arrive(&mut pending, other as usize, copy);
                }
                Op::Cut => self.formula.cut.push(path.guard),
                _ => {
                    self.step(thread, at, &mut path)?;
                    self.arrive(&mut pending, step.next as usize, path);
                }
            }
        }
        let ended = finished.as_ref().map_or(Lit::FALSE, |path| path.guard);
        if let Some(path) = &finished {
            self.memory.end(&mut self.formula, thread, ended, &path.state);
        }
        self.formula.ended.push(ended);
        let regs = finished.map(|path| path.regs).unwrap_or_default();
        self.formula.registers.push(regs.into_iter().map(|(reg, (word, _))| (reg, word)).collect());
        Ok(())
    }

    /// What joins were told about ends must be so.
    fn finish(&mut self) {
        for thread in 0..self.flat.threads.len() {
            let Some((ended, result)) = self.ends[thread].clone() else { continue };
            let actual = self.formula.ended[thread];
            let same = self.formula.graph.xnor(ended, actual);
            self.formula.require([same]);
            let reg = self.flat.threads[thread].result;
            let word = self.formula.registers[thread].get(&reg.0).cloned().unwrap_or_else(zero);
            self.formula.equal_if(actual, &result, &word);
        }
    }

    fn find_last_uses(&mut self, thread: usize) {
        let flat = &self.flat.threads[thread];
        self.last_use = vec![0; flat.regs as usize];
        for (at, step) in flat.code.iter().enumerate() {
            let mut used = |operand: Operand| {
                if let Operand::Reg(reg) = operand {
                    self.last_use[reg.0 as usize] = at;
                }
            };
            match &step.op {
                Op::Assign { value, .. } => match *value {
                    Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => used(a),
                    Rvalue::Binary(_, _, _, a, b) => [a, b].into_iter().for_each(used),
                    Rvalue::Select(a, b, c) => [a, b, c].into_iter().for_each(used),
                },
                Op::Load { addr, .. } => used(*addr),
                Op::Store { addr, value, .. } => [*addr, *value].into_iter().for_each(used),
                Op::Branch { condition, .. } | Op::Assume(condition) | Op::Assert { condition, .. } => {
                    used(*condition);
                }
                Op::Join { thread, .. } => used(*thread),
                _ => {}
            }
        }
        // What the final condition and joins look at.
        let outermost = if self.observe { flat.outer } else { 0 };
        for reg in (0..outermost).chain([flat.result.0]) {
            self.last_use[reg as usize] = usize::MAX;
        }
    }

    fn arrive(&mut self, pending: &mut BTreeMap<usize, Path<M>>, at: usize, mut path: Path<M>) {
        if path.guard == Lit::FALSE {
            return;
        }
        path.regs.retain(|reg, _| self.last_use[*reg as usize] >= at);
        match pending.remove(&at) {
            None => {
                pending.insert(at, path);
            }
            Some(other) => {
                let merged = self.merge(other, path);
                pending.insert(at, merged);
            }
        }
    }

    fn merge(&mut self, a: Path<M>, b: Path<M>) -> Path<M> {
        let c = self.formula.graph.distinguishing(a.guard, b.guard);
        let zero = (zero(), self.memory.constant());
        let mut regs = BTreeMap::new();
        let names: std::collections::BTreeSet<u32> = a.regs.keys().chain(b.regs.keys()).copied().collect();
        for reg in names {
            let (x, y) = (a.regs.get(&reg).unwrap_or(&zero), b.regs.get(&reg).unwrap_or(&zero));
            let word = Word::mux(&mut self.formula.graph, c, &x.0, &y.0);
            let tag = self.memory.merge_tag(&mut self.formula, c, &x.1, &y.1);
            regs.insert(reg, (word, tag));
        }
        let state = self.memory.merge(&mut self.formula, c, &a.state, &b.state);
        Path { guard: self.formula.graph.or(a.guard, b.guard), regs, state }
    }

    fn operand(&self, path: &Path<M>, operand: Operand) -> (Word, M::Tag) {
        match operand {
            Operand::Const(value) => (Word::constant(value), self.memory.constant()),
            Operand::Reg(reg) => {
                path.regs.get(&reg.0).cloned().unwrap_or_else(|| (zero(), self.memory.constant()))
            }
        }
    }

    fn step(&mut self, thread: usize, at: usize, path: &mut Path<M>) -> Result<(), Unsupported> {
        let step = &self.flat.threads[thread].code[at];
        if matches!(step.op, Op::Nondet { .. } | Op::Assume(_) | Op::Assert { .. }) {
            self.memory.fetched(&mut self.formula, (thread, at), path.guard);
        }
        match step.op {
            Op::Skip | Op::AtomicBegin | Op::AtomicEnd | Op::Cut | Op::Branch { .. } => {}
            Op::Assign { dst, ref value } => {
                let computed = self.evaluate(path, value, step.span)?;
                path.regs.insert(dst.0, computed);
            }
            Op::Nondet { dst, first, last } => {
                let word = self.choose(first, last);
                self.formula.choices.push((thread, at, word.clone()));
                path.regs.insert(dst.0, (word, self.memory.constant()));
            }
            Op::Load { dst, addr, width, extend, reserve } => {
                self.load(thread, at, path, (dst, addr, width, extend), reserve);
            }
            Op::Store { addr, value, width, paired } => {
                let ((addr, tag), (value, of)) = (self.operand(path, addr), self.operand(path, value));
                let cells = self.cells(thread, at, path, &addr, width);
                let value = value.extend(width, Extend::Zero);
                for &(cell, _) in &cells {
                    self.next.shapes[cell] = self.next.shapes[cell].join(&Shape::of(&value));
                    if self.memory.is_ordered(thread, at) {
                        self.next.writers[cell] |= 1 << thread;
                    }
                }
                let (address, guard) = (&tag, path.guard);
                let access = Access { thread, step: at, guard, cells, address, exclusive: paired };
                self.memory.store(&mut self.formula, &access, (&value, &of), &mut path.state);
                let on = self.memory.goes_on(&mut self.formula, (thread, at));
                path.guard = self.formula.graph.and(path.guard, on);
            }
            Op::Fence(fence) => {
                self.memory.fence(&mut self.formula, (thread, at), path.guard, fence, &mut path.state);
            }
            Op::Assume(condition) => {
                let (word, tag) = self.operand(path, condition);
                self.memory.branch(&mut self.formula, (thread, at), path.guard, &tag, &mut path.state);
                let holds = word.is_true(&mut self.formula.graph);
                self.formula.branches.push((thread, at, path.guard, holds));
                path.guard = self.formula.graph.and(path.guard, holds);
            }
            Op::Assert { condition, kind, ref message } => {
                let (word, tag) = self.operand(path, condition);
                let holds = word.is_true(&mut self.formula.graph);
                self.formula.branches.push((thread, at, path.guard, holds));
                let fails = self.formula.graph.and(path.guard, !holds);
                if fails != Lit::FALSE {
                    let when = self.memory.fails(&mut self.formula, (thread, at), fails, &tag, &path.state);
                    let (message, span) = (message.clone(), step.span);
                    self.formula.bad.push(Bad { thread, step: at, when, kind, message, span });
                }
                // What comes behind something that cannot be followed means nothing.
                if kind == FailKind::Unsupported || self.memory.ends_at_assertions(thread, at) {
                    path.guard = self.formula.graph.and(path.guard, holds);
                }
            }
            Op::Spawn(child) => {
                self.started[child] = path.guard;
                self.memory.spawn((thread, at), path.guard, child, &mut path.state);
            }
            Op::Join { thread: child, dst } => self.join(thread, at, path, child, dst, step.span)?,
        }
        Ok(())
    }

    /// Any value of a range.
    fn choose(&mut self, first: i64, last: i64) -> Word {
        let (a, b) = (Word::constant(Value::from_i64(first)), Word::constant(Value::from_i64(last)));
        let word = Shape::of(&a).join(&Shape::of(&b)).without_values().input(&mut self.formula.graph);
        let graph = &mut self.formula.graph;
        use fencepost_ir::BinaryOp::{GeS, LeS};
        for (op, bound) in [(GeS, a), (LeS, b)] {
            let inside = arithmetic::binary(graph, op, Width::W64, Extend::Zero, &word, &bound);
            let inside = inside.map_or(Lit::TRUE, |computed| computed.word.bit(0));
            self.formula.clauses.clause(&[inside]);
        }
        word
    }

    /// The cells that an access may hit. Where it hits none, the thread ends before it.
    fn cells(
        &mut self,
        thread: usize,
        at: usize,
        path: &mut Path<M>,
        addr: &Word,
        width: Width,
    ) -> Vec<(usize, Lit)> {
        let cells = self.cells.matching(&mut self.formula.graph, addr, width);
        let hits: Vec<Lit> = cells.iter().map(|(_, hit)| *hit).collect();
        let hit = self.formula.graph.or_all(&hits);
        self.wrong_unless(thread, at, path, hit, "an access to something that is no cell");
        for &(cell, _) in &cells {
            self.next.users[cell] |= 1 << thread;
        }
        cells
    }

    /// Where the condition does not hold, something is wrong and the thread does nothing more.
    fn wrong_unless(&mut self, thread: usize, at: usize, path: &mut Path<M>, condition: Lit, what: &str) {
        let when = self.formula.graph.and(path.guard, !condition);
        if when != Lit::FALSE {
            let (span, message) = (self.flat.threads[thread].code[at].span, what.to_string());
            self.formula.bad.push(Bad { thread, step: at, when, kind: FailKind::Assertion, message, span });
        }
        path.guard = self.formula.graph.and(path.guard, condition);
    }

    fn load(
        &mut self,
        thread: usize,
        at: usize,
        path: &mut Path<M>,
        (dst, addr, width, extend): (Reg, Operand, Width, Extend),
        exclusive: bool,
    ) {
        let (addr, tag) = self.operand(path, addr);
        let cells = self.cells(thread, at, path, &addr, width);
        let access = Access { thread, step: at, guard: path.guard, cells, address: &tag, exclusive };
        let (value, tag, valid) = self.memory.load(&mut self.formula, &access, &mut path.state);
        path.regs.insert(dst.0, (value.extend(width, extend), tag));
        self.wrong_unless(thread, at, path, valid, "a cell without a value is read");
        let on = self.memory.goes_on(&mut self.formula, (thread, at));
        path.guard = self.formula.graph.and(path.guard, on);
    }

    fn join(
        &mut self,
        thread: usize,
        at: usize,
        path: &mut Path<M>,
        child: Operand,
        dst: Option<Reg>,
        span: Span,
    ) -> Result<(), Unsupported> {
        let number = self.operand(path, child).0.as_constant().map(|value| value.0 as usize);
        let Some(number) = number.filter(|&number| number < self.flat.threads.len() && number != thread)
        else {
            return Err(Unsupported { what: "a join of a thread that is not known in advance".into(), span });
        };
        let (ended, result) = match self.ends[number].clone() {
            Some(known) => known,
            None => {
                let graph = &mut self.formula.graph;
                let end = (graph.input(), Shape::any(Width::W64).input(graph));
                self.ends[number] = Some(end.clone());
                end
            }
        };
        self.memory.join(&mut self.formula, (thread, at), path.guard, number, &mut path.state);
        path.guard = self.formula.graph.and(path.guard, ended);
        if let Some(dst) = dst {
            path.regs.insert(dst.0, (result, self.memory.constant()));
        }
        Ok(())
    }

    fn evaluate(
        &mut self,
        path: &Path<M>,
        value: &Rvalue,
        span: Span,
    ) -> Result<(Word, M::Tag), Unsupported> {
        let refuse = |_: arithmetic::NoCircuit| Unsupported {
            what: "floating-point arithmetic on values that are not known".into(),
            span,
        };
        Ok(match *value {
            Rvalue::Use(a) => self.operand(path, a),
            Rvalue::Unary(op, width, extend, a) => {
                let (word, tag) = self.operand(path, a);
                let word =
                    arithmetic::unary(&mut self.formula.graph, op, width, extend, &word).map_err(refuse)?;
                (word, tag)
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                let ((a, x), (b, y)) = (self.operand(path, a), self.operand(path, b));
                // The program asserts before a division that the divisor is not zero.
                let word = arithmetic::binary(&mut self.formula.graph, op, width, extend, &a, &b)
                    .map_err(refuse)?
                    .word;
                (word, self.memory.both(&mut self.formula, &x, &y))
            }
            Rvalue::Select(c, a, b) => {
                let (c, a, b) = (self.operand(path, c), self.operand(path, a), self.operand(path, b));
                let condition = c.0.is_true(&mut self.formula.graph);
                let word = Word::mux(&mut self.formula.graph, condition, &a.0, &b.0);
                let tag = self.memory.both(&mut self.formula, &a.1, &b.1);
                (word, self.memory.both(&mut self.formula, &tag, &c.1))
            }
        })
    }
}
