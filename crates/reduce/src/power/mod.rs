//! From POWER with K contexts to SC: the translation of `[AABN17]`, repaired, for the language of its Fig. 6 and `eieio`.
//!
//! The result is one sequential program: the processes run one after the other, no scheduler is left. Who is active in which
//! context is chosen first, and what each
//! process has received of each cell when a context begins is guessed: `power_from` (the place in coherence order) and
//! `power_value`. A process changes
//! these for contexts in which it is active (`power_to`, `power_new`), and in the end each context must begin with what the one
//! before left. So each process can be run alone:
//! all it touches of others is indexed by its own contexts.
//!
//! An event chooses the contexts in which it is initialised, committed and propagated, and assumes what the rules of the machine
//! demand of them. Where the
//! paper's Algorithms 2 to 12 keep the coherence order as pairs of contexts, there are numbers here that each store chooses: the
//! paper's pairs lose stores
//! (`docs/adr/018-power-machine.md`). What a fence waits for must be known to be covered when it goes on: with two processes
//! `power_got` (what has arrived from the other one) tells; with
//! more, or with store-conditionals, the final order does, so that there may be a run more. A store-conditional keeps other
//! processes' numbers out between what its load-reserve read and its own. The rest of the numbers mean what they mean there:
//!
//! * per register: the contexts by which what it depends on is initialised and committed;
//! * per process and cell: value, number and initialisation of the last own store, commitment of the last access, initialisation
//!   of the last read, and when the addresses of
//!   stores since the last own one were known;
//! * per process: commitment of control, what fences and `eieio`s let through, commitment of all accesses and of all stores,
//!   knowledge and commitment of
//!   all addresses, and when own barriers have reached each other process;
//! * per two processes and context: by when barriers that have reached the first have reached the second (`power_need`).
//!
//! Threads are flat (`ir::flat`): loops are unrolled and calls inlined before.

mod process;

use crate::Unsupported;
use crate::promising::code::{Code, number};
use fencepost_diag::Span;
use fencepost_ir::flat::{self, Flat, Op, Phase};
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, FunctionId, Instr, Object, ObjectId, Observable, Operand,
    Program, Property, Reg, Rvalue, Thread, Value, Width,
};
use std::collections::BTreeSet;
use std::ops::Range;

/// How to translate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Most contexts.
    pub contexts: u32,
    /// How often a loop may go back.
    pub unroll: u32,
    /// Mutexes know their owners, as in C.
    pub owners: bool,
}

/// The sequential program that goes wrong, or ends in a state, if and only if the program does on the POWER machine within the
/// bounds.
///
/// Processes may stop anywhere, but a final condition is about runs in which all have come to their ends.
pub fn reduce_power(program: &Program, options: &Options) -> Result<Program, Unsupported> {
    let settings = flat::Options { owners: options.owners, ..flat::Options::new(options.unroll) };
    let flat = flat::prepare(program, settings).map_err(refuse)?;
    let phases = flat::phases(&flat).map_err(refuse)?;
    if !phases.is_sorted_by_key(|phase| *phase as u8) {
        let what = "a `main` whose parts beside other threads cannot be told apart".into();
        return Err(Unsupported { what, span: Span::default() });
    }
    let cells = cells(&flat)?;
    refuse_steps(&flat)?;
    let layout = Layout::new(&flat, options.contexts, &cells);
    // Where nothing can go wrong before the end, only runs to the end are of interest.
    let complete = matches!(program.property, Property::Final(_)) && !may_fail(&flat);
    let mut translation = Translation {
        flat: &flat,
        phases: &phases,
        cells: &cells,
        layout: &layout,
        complete,
        observes: matches!(program.property, Property::Final(_)),
        code: Code::like(&Function::default()),
        bases: Vec::new(),
        failures: Vec::new(),
        edges: Vec::new(),
        steps: Vec::new(),
        part: 0..0,
        exits: Vec::new(),
        crossings: BTreeSet::new(),
        resume: Reg(0),
        busy: busy(&flat, &phases),
        failed: Reg(0),
        ended: Vec::new(),
        stores: Vec::new(),
        reservations: Vec::new(),
    };
    translation.code.function.name = "power_main".into();
    translation.program();
    let function = std::mem::take(&mut translation.code.function);
    let mut result = Program { name: program.name.clone(), ..Program::default() };
    result.objects = flat.objects.clone();
    // Objects of which nothing is shared are names only; C has no objects without cells.
    for object in result.objects.iter_mut().filter(|object| object.cells.is_empty()) {
        *object = Object::scalar(object.name.clone(), Width::W8, Value::ZERO, object.span);
    }
    result.objects.extend(layout.objects());
    result.property = property(program, &translation.bases);
    result.functions = vec![function];
    result.threads = vec![Thread { name: "power".into(), function: FunctionId(0), args: Vec::new() }];
    Ok(result)
}

fn refuse(error: flat::Unsupported) -> Unsupported {
    Unsupported { what: error.what, span: error.span }
}

/// The registers of a final condition are registers of the one thread now.
fn property(program: &Program, bases: &[u32]) -> Property {
    let mut property = program.property.clone();
    if let Property::Final(condition) = &mut property {
        for observable in &mut condition.observed {
            if let Observable::Register { thread, reg } = observable {
                reg.0 += bases[thread.0 as usize];
                thread.0 = 0;
            }
        }
    }
    property
}

fn refuse_steps(flat: &Flat) -> Result<(), Unsupported> {
    for step in flat.threads.iter().flat_map(|thread| &thread.code) {
        let what = match step.op {
            Op::Fence(Fence::Sync | Fence::Mfence | Fence::Lwsync | Fence::Eieio | Fence::Isync) => continue,
            Op::Fence(fence) => format!("the fence `{}`, which POWER does not have,", fence.name()),
            Op::AtomicBegin | Op::AtomicEnd => "an atomic section under POWER".into(),
            _ => continue,
        };
        return Err(Unsupported { what, span: step.span });
    }
    Ok(())
}

/// An assertion may be false, or an access hit no cell.
fn may_fail(flat: &Flat) -> bool {
    let fails = |step: &flat::Step| match step.op {
        Op::Assert { .. } => true,
        Op::Load { addr, .. } | Op::Store { addr, .. } => matches!(addr, Operand::Reg(_)),
        _ => false,
    };
    flat.threads.iter().flat_map(|thread| &thread.code).any(fails)
}

/// The threads that do something beside others: all but a `main` that only waits.
fn busy(flat: &Flat, phases: &[Phase]) -> Vec<bool> {
    let works = |(at, step): (usize, &flat::Step)| {
        phases.get(at).is_none_or(|phase| *phase == Phase::During) && step.op.is_fetched()
    };
    let mut busy = vec![true; flat.threads.len()];
    busy[0] = phases.is_empty() || flat.threads[0].code.iter().enumerate().any(works);
    busy
}

/// A cell of shared memory.
struct Place {
    address: Value,
    width: Width,
    initial: Value,
}

fn cells(flat: &Flat) -> Result<Vec<Place>, Unsupported> {
    let mut cells = Vec::new();
    for (o, object) in (0u32..).zip(&flat.objects) {
        let refuse =
            |what: &str| Err(Unsupported { what: format!("`{}`, {what},", object.name), span: object.span });
        for cell in &object.cells {
            let Some(initial) = cell.init else {
                return refuse("a shared object without a value");
            };
            cells.push(Place {
                address: Value::pointer(ObjectId(o), cell.offset),
                width: cell.width,
                initial,
            });
        }
    }
    Ok(cells)
}

/// The arrays of the result.
struct Layout {
    first: u32,
    contexts: u32,
    processes: u32,
    cells: u32,
    /// The largest number of a store.
    stores: u32,
    /// Some cell has 64 bits.
    wide: bool,
}

impl Layout {
    fn new(flat: &Flat, contexts: u32, cells: &[Place]) -> Layout {
        let steps = flat.threads.iter().flat_map(|thread| &thread.code);
        Layout {
            first: flat.objects.len() as u32,
            contexts,
            processes: flat.threads.len() as u32,
            cells: cells.len() as u32,
            stores: steps.filter(|step| matches!(step.op, Op::Store { .. })).count() as u32,
            wide: cells.iter().any(|cell| cell.width >= Width::W64),
        }
    }

    /// Names and lengths, in the order of [`Array`].
    fn sizes(&self) -> [(&'static str, u32); 17] {
        let received = self.processes * self.cells * (self.contexts + 1);
        let (own, pairs) = (self.processes * self.cells, self.processes * self.processes);
        [
            ("active", self.contexts),
            ("from", received),
            ("value", received),
            ("to", received),
            ("new", received),
            ("need", pairs * (self.contexts + 1)),
            ("needs", pairs * (self.contexts + 1)),
            ("reached", pairs),
            ("memory", self.cells),
            ("own_value", own),
            ("own_number", own),
            ("own_init", own),
            ("committed", own),
            ("last_read", own),
            ("addresses", own),
            ("got", received),
            ("gets", received),
        ]
    }

    fn objects(&self) -> Vec<Object> {
        let array = |(number, (name, length)): (usize, (&str, u32))| {
            let zeros = vec![Value::ZERO; length.max(1) as usize];
            let values = VALUES.iter().any(|array| *array as usize == number);
            let width = if self.wide && values { Width::W64 } else { Width::W32 };
            Object::array(format!("power_{name}"), width, &zeros, Span::default())
        };
        self.sizes().into_iter().enumerate().map(array).collect()
    }
}

/// The arrays that hold what cells hold; their elements are as wide as the widest cell.
const VALUES: [Array; 4] = [Array::Value, Array::New, Array::Memory, Array::OwnValue];

/// The arrays, see [`Layout::sizes`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Array {
    Active,
    From,
    Value,
    To,
    New,
    Need,
    Needs,
    Reached,
    Memory,
    OwnValue,
    OwnNumber,
    OwnInit,
    Committed,
    LastRead,
    Addresses,
    Got,
    Gets,
}

/// Where an edge of a thread goes to.
type Step = (usize, usize);

struct Translation<'a> {
    flat: &'a Flat,
    phases: &'a [Phase],
    cells: &'a [Place],
    layout: &'a Layout,
    /// Only runs to the end are of interest.
    complete: bool,
    /// There is a final condition.
    observes: bool,
    code: Code,
    /// The first register of each thread.
    bases: Vec<u32>,
    /// Messages of assertions, by number from 1.
    failures: Vec<(String, Span)>,
    /// Jumps that want a target: instruction, whether it is the other way of a branch, step.
    edges: Vec<(usize, bool, Step)>,
    /// Where steps begin.
    steps: Vec<Vec<Option<u32>>>,
    /// The steps that are being written; the parts of `main` have other processes between them.
    part: Range<usize>,
    /// Jumps to the end of that part.
    exits: Vec<usize>,
    /// The steps of `main` with which a later part may begin, and the register that says which.
    crossings: BTreeSet<usize>,
    resume: Reg,
    /// Threads that do something beside others.
    busy: Vec<bool>,
    /// The number of the assertion that failed.
    failed: Reg,
    /// Each thread has run to its end.
    ended: Vec<Reg>,
    /// Stores that were written so far.
    stores: Vec<Stored>,
    /// Cell and number of what the last load-reserve of each thread read; the cell counts from 1.
    reservations: Vec<(Reg, Reg)>,
}

/// A store: registers that say what it did.
#[derive(Clone, Copy)]
struct Stored {
    thread: usize,
    /// The cell, from 1; 0 if the store is not made.
    cell: Reg,
    number: Reg,
    /// A store-conditional: the number of what its load-reserve read.
    from: Option<Reg>,
}

impl Translation<'_> {
    fn array(&self, array: Array) -> ObjectId {
        ObjectId(self.layout.first + array as u32)
    }

    /// The address of an element of 64 bits, in an array that has such.
    fn wide(&mut self, array: Array, index: Operand) -> Option<Operand> {
        if !self.layout.wide || !VALUES.contains(&array) {
            return None;
        }
        let base = Value::pointer(self.array(array), 0);
        if let Operand::Const(n) = index {
            return Some(Operand::Const(Value(base.0 + 8 * n.0)));
        }
        let mut address = index;
        for (op, by) in [(BinaryOp::Mul, number(8)), (BinaryOp::Add, Operand::Const(base))] {
            let dst = self.code.register("address");
            let value = Rvalue::Binary(op, Width::W64, Extend::Zero, address, by);
            self.code.push(Instr::Assign { dst, value });
            address = dst.into();
        }
        Some(address)
    }

    fn get(&mut self, array: Array, index: impl Into<Operand>) -> Operand {
        let index = index.into();
        let Some(addr) = self.wide(array, index) else {
            let array = self.array(array);
            return self.code.get(array, index);
        };
        let dst = self.code.register("got");
        let (width, extend, ann) = (Width::W64, Extend::Zero, Ann::PLAIN);
        self.code.push(Instr::Load { dst, addr, width, extend, ann });
        dst.into()
    }

    fn put(&mut self, array: Array, index: impl Into<Operand>, value: impl Into<Operand>) {
        let (index, value) = (index.into(), value.into());
        match self.wide(array, index) {
            Some(addr) => {
                self.code.push(Instr::Store { addr, value, width: Width::W64, ann: Ann::PLAIN });
            }
            None => {
                let array = self.array(array);
                self.code.put(array, index, value);
            }
        }
    }

    fn is_alone(&self, thread: usize, step: usize) -> bool {
        thread == 0 && self.phases.get(step).is_some_and(|phase| *phase != Phase::During)
    }

    fn program(&mut self) {
        for (number, thread) in self.flat.threads.iter().enumerate() {
            self.bases.push(self.code.function.regs.len() as u32);
            for kind in ["value", "init", "commit"] {
                for reg in 0..thread.regs {
                    self.code.register(&format!("p{number}_{kind}{reg}"));
                }
            }
            let ended = self.code.register(&format!("p{number}_ended"));
            self.ended.push(ended);
            let names = ["cell", "number"].map(|name| format!("p{number}_reserved_{name}"));
            let [cell, read] = names.map(|name| self.code.register(&name));
            self.reservations.push((cell, read));
            self.steps.push(vec![None; thread.code.len() + 1]);
        }
        self.failed = self.code.register("failed");
        self.resume = self.code.register("resume");
        for (cell, place) in self.cells.iter().enumerate() {
            let initial = place.width.extend(Extend::Sign, place.initial);
            self.put(Array::Memory, number(cell as i64), initial);
        }
        // `main` alone, up to where it starts threads; then the others; then `main` beside them and after them.
        let before = self.phases.iter().position(|phase| *phase != Phase::Before).unwrap_or(0);
        let after = self.phases.iter().position(|phase| *phase == Phase::After);
        let end = self.flat.threads[0].code.len();
        let split = after.unwrap_or(end);
        if before > 0 {
            self.part(0, 0..before);
        }
        self.begin();
        for thread in 1..self.flat.threads.len() {
            self.part(thread, 0..self.flat.threads[thread].code.len());
        }
        self.part(0, before..split);
        self.check();
        if split < end {
            self.part(0, split..end);
        }
        self.finish();
        for (at, other, (thread, step)) in std::mem::take(&mut self.edges) {
            let to = fencepost_ir::Label(self.steps[thread][step].expect("every step was written"));
            match &mut self.code.function.body[at] {
                Instr::Branch { else_to, .. } if other => *else_to = to,
                Instr::Branch { then_to, .. } => *then_to = to,
                instr => *instr = Instr::Jump(to),
            }
        }
    }

    fn received(&self, process: usize, cell: usize, context: u32) -> i64 {
        let (cells, contexts) = (i64::from(self.layout.cells), i64::from(self.layout.contexts) + 1);
        (process as i64 * cells + cell as i64) * contexts + i64::from(context)
    }

    fn pair(&self, a: usize, b: usize, context: u32) -> i64 {
        let (processes, contexts) = (i64::from(self.layout.processes), i64::from(self.layout.contexts) + 1);
        (a as i64 * processes + b as i64) * contexts + i64::from(context)
    }

    /// Chooses who is active when, and guesses what contexts begin with.
    fn begin(&mut self) {
        let (processes, contexts) = (self.flat.threads.len(), self.layout.contexts);
        for k in 0..contexts {
            let active = self.code.choose(0, processes as i64 - 1);
            self.put(Array::Active, number(k.into()), active);
        }
        let most = i64::from(self.layout.stores + 1) * i64::from(self.layout.processes);
        for process in 0..processes {
            for cell in 0..self.cells.len() {
                let value = self.get(Array::Memory, number(cell as i64));
                let own = process as i64 * i64::from(self.layout.cells) + cell as i64;
                self.put(Array::OwnValue, number(own), value);
                for k in 0..=contexts {
                    let at = number(self.received(process, cell, k));
                    let (from, value) = match k {
                        0 => (number(0), value),
                        _ => (self.code.choose(0, most).into(), self.guess(self.cells[cell].width)),
                    };
                    self.put(Array::From, at, from);
                    self.put(Array::Value, at, value);
                    self.put(Array::To, at, from);
                    self.put(Array::New, at, value);
                    let got = match k {
                        0 => number(0),
                        _ if self.is_established() => self.code.choose(0, most).into(),
                        _ => continue,
                    };
                    self.put(Array::Got, at, got);
                    self.put(Array::Gets, at, got);
                }
            }
            for other in 0..processes {
                for k in 0..=contexts {
                    let at = number(self.pair(process, other, k));
                    let need = match k {
                        0 => number(0),
                        _ => self.code.choose(0, i64::from(contexts) - 1).into(),
                    };
                    self.put(Array::Need, at, need);
                    self.put(Array::Needs, at, need);
                }
            }
        }
    }

    /// Any value of a cell, sign-extended.
    fn guess(&mut self, width: Width) -> Operand {
        let half = 1i128 << (width.bits() - 1);
        self.code.choose((-half) as i64, (half - 1) as i64).into()
    }

    /// Each context begins with what the one before left.
    fn check(&mut self) {
        let mut pairs = vec![(Array::From, Array::To), (Array::Value, Array::New)];
        if self.is_established() {
            pairs.push((Array::Got, Array::Gets));
        }
        for process in 0..self.flat.threads.len() {
            for k in 0..self.layout.contexts {
                for cell in 0..self.cells.len() {
                    let (here, next) = (self.received(process, cell, k), self.received(process, cell, k + 1));
                    for &(start, end) in &pairs {
                        self.same((end, here), (start, next));
                    }
                }
                for other in 0..self.flat.threads.len() {
                    let (here, next) = (self.pair(process, other, k), self.pair(process, other, k + 1));
                    self.same((Array::Needs, here), (Array::Need, next));
                }
            }
        }
        self.store_conditionals();
        // From here on `main` may be alone again: memory is what every process has received in the end.
        let process = self.busy.iter().position(|busy| *busy).unwrap_or(0);
        for cell in 0..self.cells.len() {
            let last = self.received(process, cell, self.layout.contexts);
            let value = self.get(Array::Value, number(last));
            self.put(Array::Memory, number(cell as i64), value);
        }
    }

    fn same(&mut self, a: (Array, i64), b: (Array, i64)) {
        let width = if VALUES.contains(&a.0) && self.layout.wide { Width::W64 } else { Width::W32 };
        let (a, b) = (self.get(a.0, number(a.1)), self.get(b.0, number(b.1)));
        let dst = self.code.register("same");
        let value = Rvalue::Binary(BinaryOp::Eq, width, Extend::Zero, a, b);
        self.code.push(Instr::Assign { dst, value });
        self.code.assume(dst);
    }

    /// No store of another process comes between what a load-reserve read and its store-conditional.
    fn store_conditionals(&mut self) {
        let stores = self.stores.clone();
        for conditional in &stores {
            let Some(from) = conditional.from else { continue };
            for other in stores.iter().filter(|other| other.thread != conditional.thread) {
                let same = self.code.eq(conditional.cell, other.cell);
                let (after, before) =
                    (self.code.less(from, other.number), self.code.less(other.number, conditional.number));
                let between = self.code.and(after, before);
                let between = self.code.and(same, between);
                let fine = self.code.not(between);
                self.code.assume(fine);
            }
        }
    }

    /// It is followed what is known of coherence when a fence waits: with two processes and no store-conditionals. Otherwise the
    /// final order counts, which may let a fence go on earlier.
    fn is_established(&self) -> bool {
        let steps = self.flat.threads.iter().flat_map(|thread| &thread.code);
        let conditional = |step: &flat::Step| matches!(step.op, Op::Store { paired: true, .. });
        self.busy.iter().filter(|busy| **busy).count() == 2 && !steps.into_iter().any(conditional)
    }

    /// What is asked.
    fn finish(&mut self) {
        for (n, (message, span)) in (1..).zip(self.failures.clone()) {
            self.code.span = span;
            let condition = self.code.op(BinaryOp::Ne, self.failed, number(n));
            self.code.push(Instr::Assert { condition, kind: fencepost_ir::FailKind::Assertion, message });
        }
        if !self.observes {
            return;
        }
        for thread in 0..self.flat.threads.len() {
            self.code.assume(self.ended[thread]);
        }
        for (cell, place) in self.cells.iter().enumerate() {
            let value = self.get(Array::Memory, number(cell as i64));
            let (addr, width) = (Operand::Const(place.address), place.width);
            self.code.push(Instr::Store { addr, value, width, ann: Ann::PLAIN });
        }
    }

    /// A 64-bit comparison.
    fn is_address(&mut self, a: Operand, address: Value) -> Operand {
        let dst = self.code.register("same");
        let op = BinaryOp::Eq;
        let value = Rvalue::Binary(op, Width::W64, Extend::Zero, a, address.into());
        self.code.push(Instr::Assign { dst, value });
        dst.into()
    }
}
