//! Findings that need a read of an iteration or of a try that is left out: a race with it, or the end of the life of what it
//! reads.
//!
//! A thread waits, or tries, and reads data in between; then it writes something, and because of that another thread writes
//! the data or frees it. The thread could have come there without the read.
//!
//! `FENCEPOST_CASES=20000 cargo test --release -p fencepost-explore --test losing` is the long version.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/following.rs"]
mod following;
#[path = "support/writing.rs"]
mod writing;

use dice::Random;
use fencepost_explore::ModelName;
use fencepost_ir::text::print_program;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, FunctionId, Instr, Label, Operand, Order, Program, Reg, RmwOp,
};
use following::{compare, number};
use writing::{WIDTH, Writer, add_thread, cell, constant, observe, program_with};

/// What ends the loop, what is written behind it, what is read in the loop unless it is made at run time, and where it is put in
/// the end.
const CELLS: [&str; 4] = ["ready", "seen", "data", "result"];
const READY: u32 = 0;
const SEEN: u32 = 1;
const DATA: u32 = 2;
const RESULT: u32 = 3;

/// Every thread but the first gets the address of the data, and keeps what it reads of it.
const ADDRESS: Reg = Reg(0);
const FOUND: Reg = Reg(1);

struct Body<'r> {
    random: &'r mut Random,
    writer: Writer,
    /// Whether the data is accessed atomically, mostly.
    atomic: bool,
}

impl Body<'_> {
    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn reading(&mut self) -> Ann {
        Ann::order([Order::Relaxed, Order::Relaxed, Order::Acquire][self.random.below(3) as usize])
    }

    fn writing(&mut self) -> Ann {
        Ann::order([Order::Relaxed, Order::Relaxed, Order::Release][self.random.below(3) as usize])
    }

    fn data_access(&mut self) -> Ann {
        if self.atomic != self.one_in(8) { Ann::order(Order::Relaxed) } else { Ann::PLAIN }
    }

    fn read_data(&mut self) {
        let ann = self.data_access();
        // What was found before may still matter, or not.
        let dst = if self.one_in(2) { FOUND } else { self.writer.register() };
        self.writer.load(dst, ADDRESS.into(), ann);
    }

    fn read(&mut self, number: u32) -> Reg {
        let (dst, ann) = (self.writer.register(), self.reading());
        self.writer.load(dst, cell(number), ann);
        dst
    }

    /// Waits for another thread, and reads the data meanwhile.
    fn wait(&mut self) {
        let start = self.writer.here();
        if self.one_in(3) {
            self.read_data();
        }
        let ready = if self.one_in(4) { self.take() } else { self.read(READY) };
        let leave = self.writer.may_leave();
        self.read_data();
        self.writer.end_loop(start, leave, ready);
    }

    /// Reads a flag by an instruction that also writes what is there.
    fn take(&mut self) -> Reg {
        let dst = self.writer.register();
        let (op, operand) = (RmwOp::Or, constant(0));
        let (read, write) = (self.reading(), self.writing());
        self.writer.emit(Instr::Rmw {
            dst: Some(dst),
            addr: cell(READY),
            width: WIDTH,
            extend: Extend::Sign,
            op,
            operand,
            read,
            write,
        });
        dst
    }

    /// Reads the data until a version is what it was.
    fn read_section(&mut self) {
        let version = self.read(READY);
        let start = self.writer.here();
        self.read_data();
        let again = self.read(READY);
        let same = self.writer.binary(BinaryOp::Eq, version.into(), again.into());
        let leave = self.writer.may_leave();
        self.writer.copy(version, again.into());
        self.writer.end_loop(start, leave, same);
    }

    fn reader(mut self) -> Writer {
        match self.one_in(3) {
            true => self.read_section(),
            false => self.wait(),
        }
        if self.one_in(6) {
            self.read_data();
        }
        let ann = self.writing();
        self.writer.store(cell(SEEN), constant(1), ann);
        self.end()
    }

    /// Lets the reader go on, and does something to the data when it has.
    fn writer(mut self) -> Writer {
        let ann = self.writing();
        self.writer.store(cell(READY), constant(1), ann);
        let seen = self.read(SEEN);
        let at = self.writer.here();
        self.writer.emit(Instr::Jump(at));
        match self.random.below(4) {
            0 => {
                let ann = self.data_access();
                self.writer.load(FOUND, ADDRESS.into(), ann);
            }
            1 => self.writer.emit(Instr::Free(ADDRESS.into())),
            _ => {
                let ann = self.data_access();
                self.writer.store(ADDRESS.into(), constant(1), ann);
            }
        }
        let (then_to, else_to) = (Label(at.0 + 1), self.writer.here());
        self.writer.function.body[at.0 as usize] = Instr::Branch { condition: seen.into(), then_to, else_to };
        self.end()
    }

    /// Does one thing or another to the cells.
    fn other(mut self) -> Writer {
        let ann = self.writing();
        match self.random.below(3) {
            0 => self.writer.store(cell(READY), constant(2), ann),
            1 => self.writer.store(cell(SEEN), constant(1), ann),
            _ => {
                let ann = self.data_access();
                self.writer.load(FOUND, ADDRESS.into(), ann);
            }
        }
        self.writer
    }

    fn end(mut self) -> Writer {
        if self.one_in(2) {
            self.writer.store(cell(RESULT), FOUND.into(), Ann::order(Order::Relaxed));
        }
        self.writer.emit(Instr::Return(None));
        self.writer
    }
}

/// The first thread makes the data and starts the others.
fn generate(random: &mut Random) -> (Program, String) {
    let mut program = program_with(&CELLS);
    let frees = random.below(2) == 0;
    let atomic = random.below(2) == 0;
    let others = 2 + u32::from(random.below(6) == 0);
    let mut main = Writer::new("main".into(), &["data"]);
    let data: Operand = match frees {
        true => {
            main.emit(Instr::Alloc { dst: ADDRESS, size: constant(4), zeroed: true });
            ADDRESS.into()
        }
        false => cell(DATA),
    };
    for t in 1..=others {
        let callee = Callee::Function(FunctionId(t));
        main.emit(Instr::Spawn { dst: None, callee, args: vec![data] });
    }
    add_thread(&mut program, main.function);
    for t in 0..others {
        let mut writer = Writer::new(format!("t{t}"), &["data", "found"]);
        writer.function.params = 1;
        let body = Body { random, writer, atomic };
        let writer = match t {
            0 => body.reader(),
            1 => body.writer(),
            _ => body.other(),
        };
        program.functions.push(writer.function);
    }
    observe(&mut program, 0, 4);
    let text = print_program(&program);
    (program, text)
}

#[test]
fn nothing_is_found_less_without_a_read() {
    compare(number("FENCEPOST_CASES", 250), &ModelName::ALL, 2, generate);
}
