//! Loops whose values carry dependencies: what is behind a loop must be ordered as it is where every try is followed.
//!
//! A thread reads some cells, and reads them again in a loop until they have the values that they had before, or some other
//! value. What it takes along from one try to the next may depend on more or on less than before, although the value is the
//! same; so may the reads themselves, and the branches and fences between them. Behind the loop an access depends on what was
//! taken along, and other threads write or read such that the order matters: message passing, load buffering, S, R and 2+2W.
//!
//! `FENCEPOST_CASES=20000 cargo test --release -p fencepost-explore --test carrying` is the long version.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/following.rs"]
mod following;
#[path = "support/writing.rs"]
mod writing;

use dice::Random;
use fencepost_explore::{ModelName, Options, Reductions, explore};
use fencepost_ir::text::print_program;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Instr, Operand, Order, Program, Reg, Rvalue, Until, bound_loops,
};
use following::{compare, number};
use writing::{WIDTH, Writer, add_thread, cell, constant, observe, program_with};

/// What is read before the loop, in the loop, and behind it.
const CELLS: [&str; 4] = ["x", "y", "z", "u"];
const BEFORE: u32 = 0;
const BEHIND: u32 = 3;

/// What the first thread read before the loop, keeps of the two cells, and read behind.
const READ_BEFORE: Reg = Reg(0);
const READ_BEHIND: Reg = Reg(3);

fn kept(number: usize) -> Reg {
    Reg(1 + number as u32)
}

const RELAXED: Ann = Ann { order: Order::Relaxed, ..Ann::PLAIN };

struct Trier<'r> {
    random: &'r mut Random,
    writer: Writer,
    /// Registers that have been read.
    known: Vec<Reg>,
    /// The cells that are read in the loop, and which of them decides whether it is left.
    cells: &'static [u32],
    decides: usize,
    style: Style,
}

/// What a program has at all: few things at a time, so that others do not hide what they mean.
struct Style {
    addresses: bool,
    branches: bool,
    fences: bool,
    picks: bool,
    acquires: bool,
}

impl Style {
    fn any(random: &mut Random) -> Style {
        let mut one_in = |n| random.below(n) == 0;
        Style {
            addresses: one_in(2),
            branches: one_in(3),
            fences: one_in(4),
            picks: one_in(3),
            acquires: one_in(10),
        }
    }
}

impl Trier<'_> {
    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn any_known(&mut self) -> Option<Reg> {
        let count = self.known.len() as u64;
        (count > 0).then(|| self.known[self.random.below(count) as usize])
    }

    /// A cell, whose address may depend on what was read.
    fn place(&mut self, number: u32) -> Operand {
        if self.style.addresses
            && self.one_in(2)
            && let Some(on) = self.any_known()
        {
            return self.writer.depending(cell(number), on);
        }
        cell(number)
    }

    fn fence(&mut self) {
        if self.style.fences && self.one_in(4) {
            let fences = [Fence::Isync, Fence::Isync, Fence::Lwsync, Fence::C11(Order::Acquire)];
            let fence = fences[self.random.below(4) as usize];
            self.writer.emit(Instr::Fence(fence));
        }
    }

    /// Reads a cell of the loop; there may be a branch on it and a fence.
    fn read(&mut self, dst: Reg, number: u32) {
        let addr = self.place(number);
        let ann = if self.style.acquires && self.one_in(3) { Ann::order(Order::Acquire) } else { RELAXED };
        self.writer.load(dst, addr, ann);
        if !self.known.contains(&dst) {
            self.known.push(dst);
        }
        if self.style.branches && self.one_in(2) {
            self.writer.look_at(dst);
        }
        self.fence();
    }

    /// `to` becomes `from`, and depends on it, or is picked by it, or not even that.
    fn take_along(&mut self, to: Reg, from: Reg) {
        match self.random.below(if self.style.picks { 3 } else { 1 }) {
            1 => {
                let one = self.writer.binary(BinaryOp::Eq, from.into(), constant(1));
                self.writer.assign(to, Rvalue::Select(one.into(), constant(1), from.into()));
            }
            2 => self.writer.copy_without_one(to, from),
            _ => self.writer.copy(to, from.into()),
        }
    }

    /// A register that is zero all the time, and depends now on this and now on that.
    fn set_zero(&mut self, zero: Reg) {
        match (self.random.below(2), self.any_known()) {
            (1, Some(on)) => {
                let nothing = self.writer.nothing_of(on);
                self.writer.copy(zero, nothing.into());
            }
            _ => self.writer.copy(zero, constant(0)),
        }
    }

    /// Reads cells, and reads them again until they are what they were, or one of them is 1.
    fn read_again_and_again(&mut self, zero: Reg) {
        let waits = self.one_in(3);
        if !waits || self.one_in(3) {
            for (i, &number) in self.cells.iter().enumerate() {
                self.read(kept(i), number);
            }
        }
        self.set_zero(zero);
        let start = self.writer.here();
        let mut read = Vec::new();
        for &number in self.cells {
            let dst = self.writer.register();
            self.read(dst, number);
            read.push(dst);
        }
        let again = read[self.decides].into();
        let last = if waits { constant(1) } else { kept(self.decides).into() };
        let mut done = self.writer.binary(BinaryOp::Eq, again, last);
        if !waits && read.len() > 1 && self.one_in(4) {
            let other = 1 - self.decides;
            let same = self.writer.binary(BinaryOp::Eq, read[other].into(), kept(other).into());
            done = self.writer.binary(BinaryOp::And, done.into(), same.into());
        }
        // What is taken along is taken behind the loop as well, or only to the next try.
        let leave = (!self.one_in(4)).then(|| self.writer.may_leave());
        for (i, &again) in read.iter().enumerate() {
            if !waits || self.one_in(2) {
                self.take_along(kept(i), again);
            }
        }
        if self.one_in(3) {
            self.set_zero(zero);
        }
        match leave {
            Some(leave) => self.writer.end_loop(start, leave, done),
            None => self.writer.back_unless(done, start),
        }
        // What was read in the loop is not asked for behind it, so that the loop comes round with the same state.
        self.known.retain(|reg| !read.contains(reg));
    }

    /// Adds to a cell by compare-exchanges, each of which expects what the one before it found.
    fn add(&mut self) {
        let number = self.cells[self.decides];
        self.read(kept(0), number);
        let start = self.writer.here();
        let new = self.writer.binary(BinaryOp::Add, kept(0).into(), constant(1));
        let addr = self.place(number);
        let success = self.writer.register();
        self.writer.emit(Instr::CompareExchange {
            dst: Some(kept(0)),
            success: Some(success),
            addr,
            width: WIDTH,
            extend: Extend::Sign,
            expected: kept(0).into(),
            desired: new.into(),
            read: RELAXED,
            write: RELAXED,
            failure: RELAXED,
            weak: false,
        });
        self.fence();
        self.writer.back_unless(success, start);
    }

    /// An access that depends on something.
    fn access_behind(&mut self) {
        let on = self.any_known().filter(|_| !self.one_in(3));
        let addr = cell(BEHIND);
        let writes = self.one_in(2);
        let (addr, value) = match (on, self.random.below(if writes { 3 } else { 2 })) {
            (None, _) => (addr, constant(1)),
            (Some(on), 0) => (self.writer.depending(addr, on), constant(1)),
            (Some(on), 1) => {
                self.writer.look_at(on);
                if !writes {
                    self.writer.emit(Instr::Fence(Fence::Isync));
                }
                (addr, constant(1))
            }
            (Some(on), _) => (addr, self.writer.depending(constant(1), on)),
        };
        match writes {
            true => self.writer.store(addr, value, RELAXED),
            false => self.writer.load(READ_BEHIND, addr, RELAXED),
        }
    }

    /// The thread with the loop.
    fn thread(mut self) -> Writer {
        if !self.one_in(3) {
            self.writer.load(READ_BEFORE, cell(BEFORE), RELAXED);
            self.known.push(READ_BEFORE);
        }
        let zero = self.writer.register();
        match self.one_in(8) {
            true => self.add(),
            false => {
                self.read_again_and_again(zero);
                self.known.push(zero);
            }
        }
        self.known.retain(|&reg| reg != READ_BEFORE);
        self.access_behind();
        if self.one_in(8) {
            self.access_behind();
        }
        self.writer
    }
}

const REGISTERS: [&str; 4] = ["before", "first", "second", "behind"];

/// A thread that notices an order: two accesses, the first of them mostly to the cell behind the loop.
fn notices(random: &mut Random) -> Writer {
    let mut writer = Writer::new("notices".into(), &REGISTERS);
    let first = if random.below(8) == 0 { random.below(4) as u32 } else { BEHIND };
    let last = random.below(3) as u32;
    let value = constant(1 + random.below(8) / 7);
    let fence = [Fence::Lwsync, Fence::Lwsync, Fence::Sync, Fence::Compiler][random.below(4) as usize];
    match random.below(10) {
        0 => {
            match random.below(2) {
                0 => wait_behind(&mut writer),
                _ => writer.load(READ_BEHIND, cell(first), RELAXED),
            }
            let value = writer.depending(value, READ_BEHIND);
            writer.store(cell(last), value, RELAXED);
        }
        1 => {
            writer.store(cell(last), value, RELAXED);
            writer.emit(Instr::Fence(fence));
            writer.load(READ_BEHIND, cell(first), RELAXED);
        }
        _ => {
            writer.store(cell(first), constant(2), RELAXED);
            writer.emit(Instr::Fence(fence));
            writer.store(cell(last), value, RELAXED);
        }
    }
    writer
}

/// Waits for the write behind the loop. So the thread with the loop is never alone; a loop of one that is has no bound.
fn wait_behind(writer: &mut Writer) {
    writer.emit(Instr::Await {
        dst: Some(READ_BEHIND),
        addr: cell(BEHIND),
        width: WIDTH,
        extend: Extend::Sign,
        until: Until { op: BinaryOp::Eq, operand: constant(1) },
        ann: RELAXED,
    });
}

/// A thread that lets the loop go round.
fn disturbs(random: &mut Random, number: u32) -> Writer {
    let mut writer = Writer::new("disturbs".into(), &REGISTERS);
    writer.store(cell(number), constant(1), RELAXED);
    if random.below(8) == 0 {
        writer.store(cell(3 - number), constant(1), RELAXED);
    }
    writer
}

fn generate(random: &mut Random) -> (Program, String) {
    let mut program = program_with(&CELLS);
    let cells: &[u32] = [&[1][..], &[1, 2]][random.below(4).min(1) as usize];
    let decides = random.below(cells.len() as u64) as usize;
    let style = Style::any(random);
    let writer = Writer::new("tries".into(), &REGISTERS);
    let trier = Trier { random, writer, known: Vec::new(), cells, decides, style };
    add_thread(&mut program, trier.thread().function);
    add_thread(&mut program, notices(random).function);
    if random.below(8) > 0 {
        add_thread(&mut program, disturbs(random, cells[decides]).function);
    }
    observe(&mut program, 4, 4);
    let text = print_program(&program);
    (program, text)
}

#[test]
fn what_is_behind_a_loop_depends_on_what_it_did() {
    let models = [ModelName::Power, ModelName::Armv8];
    compare(number("FENCEPOST_CASES", 300), &models, 1, generate);
}

/// The states of all threads' registers and cells, as numbers.
fn states(program: &Program, model: ModelName, reductions: Reductions, bound: u32) -> Vec<Vec<u64>> {
    let options = Options { reductions, ..Options::new(model) };
    let explored = explore(&bound_loops(program, bound), &options).expect("supported");
    explored.states.iter().map(|state| state.iter().map(|value| value.0).collect()).collect()
}

/// The thread that `write` writes, one that writes 2 behind the loop and then to a cell, and one that makes the loop go round.
/// There
/// is a state with these values, in which the loop has gone round.
fn only_by_another_try(write: impl Fn(&mut Writer), noticed: u32, is_meant: impl Fn(&[u64]) -> bool) {
    let mut program = program_with(&CELLS);
    let mut tries = Writer::new("tries".into(), &REGISTERS);
    write(&mut tries);
    let mut notices = Writer::new("notices".into(), &REGISTERS);
    notices.store(cell(BEHIND), constant(2), RELAXED);
    notices.emit(Instr::Fence(Fence::Lwsync));
    notices.store(cell(noticed), constant(1), RELAXED);
    let mut disturbs = Writer::new("disturbs".into(), &REGISTERS);
    disturbs.store(cell(2), constant(1), RELAXED);
    [tries, notices, disturbs].into_iter().for_each(|writer| add_thread(&mut program, writer.function));
    observe(&mut program, 4, 4);
    for model in [ModelName::Power, ModelName::Armv8] {
        let has = |reductions, bound| {
            states(&program, model, reductions, bound).iter().any(|state| is_meant(state))
        };
        assert!(!has(Reductions::ALL.following_all(), 0), "{model:?}: it needs no other try");
        assert!(has(Reductions::ALL.following_all(), 1), "{model:?}: it is not there at all");
        assert!(has(Reductions::ALL, 1), "{model:?}: it is lost with a try");
    }
}

/// Reads both cells of the loop until the second is what it was: `first` reads the first cell, `behind` stands before the loop,
/// and
/// `along` takes to the next try what was read of the first cell.
fn reads_both(
    writer: &mut Writer,
    first: impl Fn(&mut Writer),
    behind: impl Fn(&mut Writer),
    along: impl Fn(&mut Writer, Reg),
) {
    first(writer);
    writer.load(kept(1), cell(2), RELAXED);
    behind(writer);
    let start = writer.here();
    let (again, second) = (writer.register(), writer.register());
    writer.load(again, cell(1), RELAXED);
    writer.load(second, cell(2), RELAXED);
    let done = writer.binary(BinaryOp::Eq, second.into(), kept(1).into());
    let leave = writer.may_leave();
    along(writer, again);
    writer.copy(kept(1), second.into());
    writer.end_loop(start, leave, done);
}

fn read_first(writer: &mut Writer) {
    writer.load(kept(0), cell(1), RELAXED);
}

fn keep(writer: &mut Writer, again: Reg) {
    writer.copy(kept(0), again.into());
}

/// Reads the cell behind the loop, at an address that depends on the register.
fn read_behind(writer: &mut Writer, on: Reg) {
    let addr = writer.depending(cell(BEHIND), on);
    writer.load(READ_BEHIND, addr, RELAXED);
}

/// The first read of the first try depends on more than that of the second one.
#[test]
fn a_read_that_could_have_been_earlier_is_ordered_by_more() {
    let first = |writer: &mut Writer| {
        writer.load(READ_BEFORE, cell(BEFORE), RELAXED);
        let addr = writer.depending(cell(1), READ_BEFORE);
        writer.load(kept(0), addr, RELAXED);
    };
    let write = |writer: &mut Writer| {
        reads_both(writer, first, |_| {}, keep);
        read_behind(writer, kept(0));
    };
    only_by_another_try(write, BEFORE, |state| state[..4] == [1, 0, 1, 0]);
}

/// There is a branch on the first read of the first try, and none on that of the second one.
#[test]
fn a_read_that_could_have_been_earlier_decides_a_branch() {
    let write = |writer: &mut Writer| {
        reads_both(writer, read_first, |writer| writer.look_at(kept(0)), keep);
        writer.store(cell(BEHIND), constant(1), RELAXED);
    };
    only_by_another_try(write, 1, |state| state[1..3] == [1, 1] && state.last() == Some(&2));
}

/// The value that is taken along is what was read, and does not depend on it.
#[test]
fn a_value_of_a_later_try_depends_on_less() {
    let write = |writer: &mut Writer| {
        reads_both(writer, read_first, |_| {}, |writer, again| writer.copy_without_one(kept(0), again));
        read_behind(writer, kept(0));
    };
    only_by_another_try(write, 1, |state| state[1..4] == [1, 1, 0]);
}

/// A register has the same value when the loop comes round, and does not depend on anything any more.
#[test]
fn a_value_depends_on_less_when_the_loop_comes_round() {
    let write = |writer: &mut Writer| {
        writer.load(READ_BEFORE, cell(BEFORE), RELAXED);
        let zero = writer.nothing_of(READ_BEFORE);
        let start = writer.here();
        let again = writer.register();
        writer.load(again, cell(2), RELAXED);
        let leave = writer.may_leave();
        writer.copy(zero, constant(0));
        writer.end_loop(start, leave, again);
        read_behind(writer, zero);
    };
    only_by_another_try(write, BEFORE, |state| (state[0], state[3]) == (1, 0));
}

/// A read of an iteration that changes nothing reads what is written because of what its thread does later, and goes on to the
/// next
/// iteration. Its cell is read again there; but that one leaves the loop.
#[test]
fn a_read_is_early_although_its_cell_is_read_again() {
    let mut program = program_with(&CELLS);
    let mut tries = Writer::new("tries".into(), &REGISTERS);
    let start = tries.here();
    let (first, second) = (tries.register(), tries.register());
    tries.load(first, cell(1), RELAXED);
    tries.load(second, cell(2), RELAXED);
    let leave = tries.may_leave();
    tries.copy(kept(0), first.into());
    tries.end_loop(start, leave, second);
    tries.store(cell(BEHIND), constant(1), RELAXED);
    let mut notices = Writer::new("notices".into(), &REGISTERS);
    wait_behind(&mut notices);
    notices.store(cell(1), constant(1), RELAXED);
    let mut disturbs = Writer::new("disturbs".into(), &REGISTERS);
    disturbs.store(cell(2), constant(1), RELAXED);
    [tries, notices, disturbs].into_iter().for_each(|writer| add_thread(&mut program, writer.function));
    observe(&mut program, 4, 4);
    for model in [ModelName::Power, ModelName::Armv8] {
        for reductions in [Reductions::ALL.following_all(), Reductions::ALL] {
            let states = states(&program, model, reductions, 1);
            assert!(states.iter().any(|state| state[1] == 1), "{model:?} {reductions:?}");
        }
    }
}
