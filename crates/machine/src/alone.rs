//! Programs of one thread that choose nothing: they have one execution, whatever the memory model, and running it tells how it
//! ends.
//!
//! The run is trusted only if nothing at all is suspicious: every access within a live object and of bytes that have values,
//! every condition decided, everything freed at the end. Whatever else happens is somebody else's to explain, and the reason is
//! given; only an assertion that fails at the end of a clean run is a finding, once it was confirmed elsewhere.
//!
//! * `step` does any one instruction and alone knows what is wrong with it; `memory` holds the objects.
//! * `decode` makes small operations of the usual instructions, once for each function, and `compute` runs them in one loop for
//!   as long as nothing is wrong. In front of everything else it leaves off, so that the two need not agree on reasons.

mod compute;
mod decode;
mod memory;
mod step;

use decode::{Code, WINDOW};
use fencepost_ir::{Instr, Program, Reg, Value};
use memory::Memory;
use std::collections::HashMap;

/// Steps between two looks at the clock.
const PATIENCE: u64 = 1 << 16;

/// Why a run stopped that ends in a failed assertion: the one mistake that is this engine's to report.
pub const ASSERTION: &str = "an assertion fails";

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// All is well, after so many steps.
    Done(u64),
    /// Something is wrong, or this engine does not know what to make of it: where, and why.
    Stopped((u32, u32), &'static str),
    /// The caller asked to stop.
    Interrupted,
}

/// Why a program has more than one execution, or needs more than this engine knows; `None` if it can be run.
pub fn refuses(program: &Program, spurious: bool) -> Option<&'static str> {
    if program.threads.len() != 1 {
        return Some("it has several threads");
    }
    program.functions.iter().flat_map(|f| &f.body).find_map(|instr| match instr {
        Instr::Spawn { .. } => Some("it starts threads"),
        Instr::Nondet { .. } => Some("it makes choices"),
        Instr::StoreExclusive { .. } | Instr::Cut => Some("it was made for a machine"),
        Instr::CompareExchange { weak: true, .. } if spurious => Some("an exchange may fail"),
        _ => None,
    })
}

/// Runs a program to its end.
pub fn run(program: &Program, stop: &dyn Fn() -> bool) -> End {
    finish(Run::new(program, Code::of(program)), stop)
}

/// As [`run`], an instruction at a time: much slower, and what [`run`] is compared with.
pub fn run_by_steps(program: &Program, stop: &dyn Fn() -> bool) -> End {
    finish(Run::new(program, Code::by_steps(program)), stop)
}

fn finish(mut run: Run<'_>, stop: &dyn Fn() -> bool) -> End {
    loop {
        let until = run.steps + PATIENCE;
        while run.steps < until {
            run.compute(until);
            run.steps += 1;
            match run.step() {
                Ok(true) => {}
                Ok(false) => return run.end(),
                Err(why) => return End::Stopped(run.place(), why),
            }
        }
        if stop() {
            return End::Interrupted;
        }
    }
}

struct Frame {
    function: u32,
    at: u32,
    /// Where its registers begin.
    base: usize,
    result: Option<Reg>,
    /// A register may be without a value.
    careful: bool,
}

struct Run<'p> {
    program: &'p Program,
    code: Code,
    memory: Memory,
    thread_local: HashMap<u32, Value>,
    frames: Vec<Frame>,
    /// The registers of all frames, each followed by the constants of its function, and then as much room as [`WINDOW`]. A value
    /// that was copied from memory without one is [`Value::UNDEFINED`].
    registers: Vec<u64>,
    /// The thread has ended, but not the process.
    left: bool,
    steps: u64,
}

impl<'p> Run<'p> {
    fn new(program: &'p Program, code: Code) -> Run<'p> {
        let mut run = Run {
            program,
            code,
            memory: Memory::of(program),
            thread_local: HashMap::new(),
            frames: Vec::new(),
            registers: vec![0; WINDOW],
            left: false,
            steps: 0,
        };
        let main = &program.threads[0];
        let base = run.make_room(main.function.0);
        let params = program.functions[main.function.0 as usize].params as usize;
        let careful = main.args.contains(&Value::UNDEFINED);
        for (at, value) in main.args.iter().enumerate().take(params) {
            run.registers[base + at] = value.0;
        }
        run.frames.push(Frame { function: main.function.0, at: 0, base, result: None, careful });
        run
    }

    /// Registers for a call of a function: all zero.
    fn make_room(&mut self, function: u32) -> usize {
        let size = |function: u32| self.code.functions[function as usize].registers.len();
        let base = self.frames.last().map_or(0, |frame| frame.base + size(frame.function));
        let registers = &self.code.functions[function as usize].registers;
        let need = base + registers.len().max(WINDOW);
        if self.registers.len() < need {
            self.registers.resize(need.max(2 * self.registers.len()), 0);
        }
        self.registers[base..base + registers.len()].copy_from_slice(registers);
        base
    }

    fn place(&self) -> (u32, u32) {
        self.frames.last().map_or((0, 0), |frame| (frame.function, frame.at))
    }

    fn end(&self) -> End {
        match self.left && self.memory.leaks() {
            true => End::Stopped(self.place(), "memory is left"),
            false => End::Done(self.steps),
        }
    }
}
