//! Random programs, in C and in Rust: as many executions, and the same findings. Each also with the threads run again before every step.
//!
//! The programs publish plain data and let what was published decide what is done next: a key of a thread's state that leaves out what others have
//! published goes unnoticed otherwise.

mod support;

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use fencepost_loom::sync::atomic::Ordering;
use fencepost_loom::{FindingKind, Model};
use support::program::{Program, REGISTERS, Statement, Value, in_c, in_rust};
use support::{Counted, Dice, count_c};

struct Maker {
    dice: Dice,
    atomics: usize,
    plains: usize,
}

impl Maker {
    fn value(&mut self) -> Value {
        match self.dice.below(3) {
            0 => Value::Register(self.dice.below(REGISTERS)),
            _ => Value::Number(1 + self.dice.below(2) as u32),
        }
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let loads = [Relaxed, Acquire, SeqCst];
        let stores = [Relaxed, Release, SeqCst];
        let rmws = [Relaxed, Acquire, Release, AcqRel, SeqCst];
        let (atomic, register) = (self.dice.below(self.atomics), self.dice.below(REGISTERS));
        match self.dice.below(if depth == 0 { 13 } else { 15 }) {
            0..=2 => Statement::Load(register, atomic, self.dice.pick(&loads)),
            3..=5 => Statement::Store(atomic, self.value(), self.dice.pick(&stores)),
            6 => Statement::Add(register, atomic, 1, self.dice.pick(&rmws)),
            7 => Statement::Swap(register, atomic, self.value(), self.dice.pick(&rmws)),
            8 => {
                let (expected, value) = (self.dice.below(2) as u32, self.value());
                Statement::Exchange(
                    register,
                    atomic,
                    expected,
                    value,
                    self.dice.pick(&rmws),
                    self.dice.pick(&loads),
                )
            }
            9 => Statement::Fence(self.dice.pick(&[Acquire, Release, AcqRel, SeqCst])),
            10 if self.plains > 0 => Statement::Read(register, self.dice.below(self.plains)),
            11 if self.plains > 0 => Statement::Write(self.dice.below(self.plains), self.value()),
            12 => Statement::Assert(register, 2),
            10..=12 => Statement::Load(register, atomic, Relaxed),
            _ => {
                let inner = (0..1 + self.dice.below(2)).map(|_| self.statement(depth - 1)).collect();
                Statement::If(register, self.dice.below(2) as u32, inner)
            }
        }
    }

    /// Plain data that is handed over by a flag, and decides what the receiver does; often, but not always, in the right order.
    fn handover(&mut self, threads: &mut [Vec<Statement>]) {
        let (flag, other, data) = (self.dice.below(self.atomics), self.dice.below(self.atomics), 0);
        let release = self.dice.pick(&[Release, Release, Release, SeqCst, Relaxed]);
        let acquire = self.dice.pick(&[Acquire, Acquire, Acquire, SeqCst, Relaxed]);
        let first = self.dice.below(threads.len());
        let second = (first + 1) % threads.len();
        let decided = vec![self.statement(0), self.statement(0)];
        threads[first].extend([
            Statement::Load(0, other, Relaxed),
            Statement::Write(data, Value::Register(0)),
            Statement::Store(flag, Value::Number(7), release),
        ]);
        let then = vec![Statement::Read(1, data), Statement::If(1, self.dice.below(2) as u32, decided)];
        threads[second].extend([Statement::Load(2, flag, acquire), Statement::If(2, 7, then)]);
    }

    fn program(&mut self) -> Program {
        let count = 2 + self.dice.below(2);
        let mut threads: Vec<Vec<Statement>> = vec![Vec::new(); count];
        if self.plains > 0 && self.dice.below(3) > 0 {
            self.handover(&mut threads);
        }
        let more = if count == 2 { 5 } else { 3 };
        for thread in &mut threads {
            for _ in 0..2 + self.dice.below(more) {
                let statement = self.statement(1);
                let at = self.dice.below(thread.len() + 1);
                thread.insert(at, statement);
            }
        }
        Program { atomics: self.atomics, plains: self.plains, threads }
    }
}

fn compare(seed: u64, plains: usize) -> (bool, bool) {
    let mut maker = Maker { dice: Dice(seed), atomics: 2, plains };
    let program = maker.program();
    let models = [Model::Rc11, Model::Rc11, Model::Ra, Model::Sc, Model::Rc20, Model::Tso];
    let model = maker.dice.pick(&models);
    let text = in_c(&program);
    let (c, rust) = (count_c(&text, model), in_rust(&program, model, false));
    let anew = in_rust(&program, model, true);
    let races = |counted: &Counted| counted.kinds.contains(&FindingKind::DataRace);
    let says = || format!("seed {seed}, {}\n{text}\nC {c:?}\nRust {rust:?}\nanew {anew:?}", model.name());
    assert_eq!(races(&rust.0), races(&anew.0), "{}", says());
    if !races(&rust.0) {
        assert_eq!((&rust.0, rust.2), (&anew.0, anew.2), "{}", says());
    }
    // Models without races of their own have none in C; in Rust a race is a mistake under every model, and so is what is read then.
    let has_races = matches!(model, Model::Rc11 | Model::Rc20 | Model::Ra);
    if has_races {
        assert_eq!(races(&c), races(&rust.0), "{}", says());
    }
    if !races(&rust.0) {
        assert_eq!(c, rust.0, "{}", says());
    }
    let runs = 16 + (rust.0.executions + rust.2) * 3 / 2;
    assert!(rust.1 <= runs || !rust.0.kinds.is_empty(), "{}", says());
    (races(&rust.0), rust.0.executions > 3)
}

fn campaign(seeds: std::ops::Range<u64>, plains: usize) {
    let (mut racy, mut large) = (0, 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let (races, many) = compare(seed, plains);
        racy += u64::from(races);
        large += u64::from(many);
    }
    // The programs are of all kinds.
    assert!(large * 4 > count, "{large} of {count} have more than three executions");
    assert!(plains == 0 || (racy * 20 > count && racy * 10 < 9 * count), "{racy} of {count} are racy");
}

#[test]
fn atomic_programs_have_as_many_executions_in_c() {
    campaign(0..700, 0);
}

#[test]
fn programs_that_publish_plain_data_have_as_many_executions_in_c() {
    campaign(10_000..11_300, 1);
}
