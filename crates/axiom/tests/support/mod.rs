//! Random C programs, and what the explorer says about them.
#![allow(dead_code)]

use fencepost_answer::{FindingKind, Severity};
use fencepost_axiom::{self as axiom, Refused, Wrong};
use fencepost_bmc::{Outcome, Verdict};
use fencepost_diag::SourceFile;
use fencepost_explore::{self as explore, ModelName};
use fencepost_ir::Compiled;
use fencepost_models::Model;
use fencepost_models::prepare::{self, Form, Prepared, prepare};
use fencepost_models::registry::{self, Ordered};
use fencepost_naive::{Limits, ProblemKind, Recorded, confirm_within, thread_fence};
use std::fmt::Write;

/// A small generator of numbers (splitmix64), so that a seed names a program for ever.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

const LOADS: [&str; 4] = ["relaxed", "acquire", "seq_cst", "relaxed"];
const STORES: [&str; 4] = ["relaxed", "release", "seq_cst", "relaxed"];
const UPDATES: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const CELLS: [&str; 3] = ["x", "y", "z"];

/// One thread of a random program.
struct Thread<'d> {
    dice: &'d mut Dice,
    text: String,
    /// Registers that have a value.
    registers: usize,
    cells: usize,
    depth: usize,
    /// Whether plain accesses, locks and loops occur.
    plain: bool,
    locks: bool,
    loops: bool,
    /// Whether there is a cell that only read-modify-writes write.
    counter: bool,
}

impl Thread<'_> {
    fn cell(&mut self) -> String {
        // An address that depends on what was read.
        if self.registers > 0 && self.dice.one_in(6) {
            let register = self.dice.below(self.registers as u64);
            return format!("a[r{register} & 1]");
        }
        let cells = &CELLS[..self.cells];
        self.dice.pick(cells).to_string()
    }

    fn value(&mut self) -> String {
        let n = 1 + self.dice.below(2);
        if self.registers > 0 && self.dice.one_in(2) {
            let register = self.dice.below(self.registers as u64);
            return match self.dice.below(4) {
                0 => format!("r{register}"),
                1 => format!("r{register} + {n}"),
                2 => format!("(r{register} ? {n} : 2)"),
                _ => format!("(r{register} ^ r{register}) + {n}"),
            };
        }
        n.to_string()
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text}");
    }

    fn read(&mut self, expression: &str) {
        let register = self.registers;
        self.line(&format!("r{register} = {expression};"));
        self.registers += 1;
    }

    fn statement(&mut self) {
        let cell = self.cell();
        match self.dice.below(if self.counter { 17 } else { 14 }) {
            14.. if self.registers < 4 => {
                let order = self.dice.pick(&UPDATES);
                let value = if self.dice.one_in(3) { self.value() } else { "1".into() };
                match self.dice.one_in(4) {
                    true => {
                        self.line("e = 1;");
                        self.read(&format!(
                            "atomic_compare_exchange_strong_explicit(&k, &e, 2, memory_order_{order}, memory_order_relaxed)"
                        ));
                    }
                    false => {
                        self.read(&format!("atomic_fetch_add_explicit(&k, {value}, memory_order_{order})"))
                    }
                }
            }
            0..=2 => {
                let (value, order) = (self.value(), self.dice.pick(&STORES));
                self.line(&format!("atomic_store_explicit(&{cell}, {value}, memory_order_{order});"));
            }
            3..=5 if self.registers < 4 => {
                let order = self.dice.pick(&LOADS);
                self.read(&format!("atomic_load_explicit(&{cell}, memory_order_{order})"));
            }
            6 if self.registers < 4 => {
                let (value, order) = (self.value(), self.dice.pick(&UPDATES));
                let what = self.dice.pick(&["fetch_add", "exchange", "fetch_or"]);
                self.read(&format!("atomic_{what}_explicit(&{cell}, {value}, memory_order_{order})"));
            }
            7 if self.registers < 4 => {
                let (value, order) = (self.value(), self.dice.pick(&UPDATES));
                let failure = self.dice.pick(&["relaxed", "acquire", "seq_cst"]);
                let expected = self.dice.below(3);
                self.line(&format!("e = {expected};"));
                let register = self.registers;
                self.line(&format!(
                    "r{register} = atomic_compare_exchange_strong_explicit(&{cell}, &e, {value}, memory_order_{order}, \
                     memory_order_{failure});"
                ));
                if self.dice.one_in(2) {
                    self.line(&format!("r{register} += 2 * e;"));
                }
                self.registers += 1;
            }
            8 => {
                let order = self.dice.pick(&["acquire", "release", "acq_rel", "seq_cst", "seq_cst"]);
                self.line(&format!("atomic_thread_fence(memory_order_{order});"));
            }
            9 if self.registers > 0 && self.depth == 0 => {
                let register = self.dice.below(self.registers as u64);
                let known = self.registers;
                let compared = self.dice.below(3);
                self.line(&format!("if (r{register} == {compared}) {{"));
                self.depth += 1;
                for _ in 0..1 + self.dice.below(2) {
                    self.statement();
                }
                if self.dice.one_in(3) {
                    self.line("} else {");
                    self.statement();
                }
                self.depth -= 1;
                self.line("}");
                self.registers = self.registers.max(known);
            }
            10 if self.plain => {
                if self.dice.one_in(2) {
                    let value = self.value();
                    self.line(&format!("p = {value};"));
                } else if self.registers < 4 {
                    self.read("p");
                }
            }
            11 if self.locks && self.depth == 0 => {
                self.depth += 1;
                self.line("pthread_mutex_lock(&m);");
                for _ in 0..1 + self.dice.below(2) {
                    self.statement();
                }
                if self.plain && self.dice.one_in(2) {
                    self.line("p = p + 1;");
                }
                self.line("pthread_mutex_unlock(&m);");
                self.depth -= 1;
            }
            12 if self.loops && self.depth == 0 => {
                let order = self.dice.pick(&["relaxed", "acquire"]);
                let cell = self.dice.pick(&CELLS[..self.cells]);
                match self.dice.below(3) {
                    0 => self.line(&format!(
                        "for (int i = 0; i < 2 && atomic_load_explicit(&{cell}, memory_order_{order}) == 0; i++) ;"
                    )),
                    1 => self.line(&format!(
                        "while (atomic_load_explicit(&{cell}, memory_order_{order}) == 0) ;"
                    )),
                    _ => {
                        self.line("e = 0;");
                        self.line(&format!(
                            "while (!atomic_compare_exchange_strong_explicit(&{cell}, &e, e + 1, memory_order_acq_rel, \
                             memory_order_{order})) ;"
                        ));
                    }
                }
            }
            _ => {
                let (value, order) = (self.value(), self.dice.pick(&STORES));
                self.line(&format!("atomic_store_explicit(&{cell}, {value}, memory_order_{order});"));
            }
        }
    }
}

/// A random program: half of them a random cycle, whose outcome is the one that the cycle would be, half of them anything.
pub fn program(seed: u64) -> String {
    match seed % 2 {
        0 => cycle(seed),
        _ => anything(seed),
    }
}

/// How an access of one thread and one of the next are related.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    ReadsFrom,
    FromRead,
    Coherence,
}

/// One access of a cycle.
struct Link {
    reads: bool,
    cell: usize,
    /// What it writes, or has to read.
    value: u64,
}

/// The text of an access; a read goes to a register. `offset` and `more` are zero, and depend on something.
fn access(dice: &mut Dice, link: &Link, register: usize, offset: &str, more: &str) -> String {
    let place = format!("&v[{}{offset}]", link.cell);
    let value = link.value;
    if link.reads {
        let order = dice.pick(&LOADS);
        let update = dice.pick(&UPDATES);
        return match dice.below(8) {
            0 => format!("r{register} = atomic_fetch_add_explicit({place}, 0{more}, memory_order_{update});"),
            1 => format!(
                "e = {value}; atomic_compare_exchange_strong_explicit({place}, &e, {value}{more}, memory_order_{update}, \
                 memory_order_relaxed); r{register} = e;"
            ),
            2 => format!(
                "e = 9; atomic_compare_exchange_strong_explicit({place}, &e, 9{more}, memory_order_seq_cst, \
                 memory_order_{order}); r{register} = e;"
            ),
            _ => format!("r{register} = atomic_load_explicit({place}, memory_order_{order});"),
        };
    }
    let order = dice.pick(&STORES);
    let update = dice.pick(&UPDATES);
    match dice.below(8) {
        0 => format!("atomic_exchange_explicit({place}, {value}{more}, memory_order_{update});"),
        1 => format!(
            "e = 0; r5 = atomic_compare_exchange_strong_explicit({place}, &e, {value}{more}, memory_order_{update}, \
             memory_order_relaxed);"
        ),
        _ => format!("atomic_store_explicit({place}, {value}{more}, memory_order_{order});"),
    }
}

/// Threads of two accesses each, the second one to the cell of the next thread's first, as in litmus tests. What is asserted
/// is that the relations between the threads do not hold all.
fn cycle(seed: u64) -> String {
    let mut dice = Dice(seed);
    let threads = dice.pick(&[2, 2, 2, 3, 3, 4]);
    let between: Vec<Between> = (0..threads)
        .map(|_| dice.pick(&[Between::ReadsFrom, Between::FromRead, Between::FromRead, Between::Coherence]))
        .collect();
    // Sometimes all is about one cell.
    let cells = if dice.one_in(8) { 1 } else { threads };
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\natomic_int v[4], w[4];\nint out[4][2];\n\n",
    );
    let mut outcome = Vec::new();
    for number in 0..threads {
        let (before, after) = (between[(number + threads - 1) % threads], between[number]);
        let first = Link {
            reads: before == Between::ReadsFrom,
            cell: number % cells,
            value: if before == Between::Coherence { 2 } else { 1 },
        };
        let second = Link {
            reads: after == Between::FromRead,
            cell: (number + 1) % cells,
            value: u64::from(after != Between::FromRead),
        };
        let _ =
            writeln!(text, "void *t{number}(void *arg) {{\n    int r0 = 7, r1 = 7, r2 = 0, r5 = 0, e = 0;");
        let _ = writeln!(text, "    {}", access(&mut dice, &first, 0, "", ""));
        let zero = if first.reads { " + (r0 ^ r0)" } else { "" };
        let (mut offset, mut more, mut end) = ("", "", "");
        match dice.below(9) {
            0 | 1 => {
                let order = dice.pick(&["acquire", "release", "acq_rel", "seq_cst", "seq_cst"]);
                let _ = writeln!(text, "    atomic_thread_fence(memory_order_{order});");
            }
            2 => offset = zero,
            3 => more = zero,
            4 if first.reads => {
                let _ = writeln!(text, "    if (r0 == {}) {{", first.value);
                end = "    }";
            }
            5 if first.reads => {
                // Through memory of its own, or another cell.
                let cell = dice.below(4);
                let _ = writeln!(text, "    atomic_store_explicit(&w[{cell}], r0, memory_order_relaxed);");
                let _ = writeln!(text, "    r2 = atomic_load_explicit(&w[{cell}], memory_order_relaxed);");
                if dice.one_in(2) { offset = " + (r2 ^ r2)" } else { more = " + (r2 ^ r2)" }
            }
            6 if first.reads => {
                // Picked, not computed.
                let _ = writeln!(text, "    r2 = r0 == {} ? 0 : 0;", first.value);
                if dice.one_in(2) { offset = " + r2" } else { more = " + r2" }
            }
            7 => {
                // Reads what was written.
                let order = dice.pick(&LOADS);
                let cell = first.cell;
                let _ = writeln!(text, "    r2 = atomic_load_explicit(&v[{cell}], memory_order_{order});");
                if dice.one_in(2) { offset = " + (r2 ^ r2)" } else { more = " + (r2 ^ r2)" }
            }
            _ => {}
        }
        let _ = writeln!(text, "    {}", access(&mut dice, &second, 1, offset, more));
        let _ = writeln!(
            text,
            "{end}\n    out[{number}][0] = r0;\n    out[{number}][1] = r1;\n    return arg;\n}}\n"
        );
        if first.reads {
            outcome.push(format!("out[{number}][0] == 1"));
        }
        if second.reads {
            outcome.push(format!("out[{number}][1] == 0"));
        }
        if after == Between::Coherence {
            outcome.push(format!("atomic_load_explicit(&v[{}], memory_order_relaxed) == 2", second.cell));
        }
    }
    finish(&mut text, threads, &outcome);
    text
}

/// `main`: all threads, and the assertion.
fn finish(text: &mut String, threads: usize, outcome: &[String]) {
    let _ = writeln!(text, "int main(void) {{\n    pthread_t t[4];");
    for number in 0..threads {
        let _ = writeln!(text, "    pthread_create(&t[{number}], 0, t{number}, 0);");
    }
    for number in 0..threads {
        let _ = writeln!(text, "    pthread_join(t[{number}], 0);");
    }
    let _ = writeln!(text, "    assert(!({}));\n    return 0;\n}}", outcome.join(" && "));
}

/// Any statements, and any outcome.
fn anything(seed: u64) -> String {
    let mut dice = Dice(seed);
    let threads = dice.pick(&[2, 2, 2, 3, 3, 4]);
    let cells = 1 + dice.below(3) as usize;
    let longest = if threads == 2 {
        4
    } else if threads == 3 {
        3
    } else {
        2
    };
    let counter = dice.one_in(3);
    let (plain, locks, loops) = (dice.one_in(4), dice.one_in(4), dice.one_in(5));
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\natomic_int x, y, z, k, a[2];\nint p;\n\
         pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nint out[4][4];\n\n",
    );
    let mut known = Vec::new();
    for number in 0..threads {
        let length = 1 + dice.below(longest);
        let mut thread = Thread {
            dice: &mut dice,
            text: String::new(),
            registers: 0,
            cells,
            depth: 0,
            plain,
            locks,
            loops,
            counter,
        };
        for _ in 0..length {
            thread.statement();
        }
        let (registers, body) = (thread.registers, thread.text);
        known.push(registers);
        let _ = writeln!(
            text,
            "void *t{number}(void *arg) {{\n    int r0 = 0, r1 = 0, r2 = 0, r3 = 0, r4 = 0, r5 = 0, e = 0;\n{body}"
        );
        for register in 0..registers {
            let _ = writeln!(text, "    out[{number}][{register}] = r{register};");
        }
        let _ = writeln!(text, "    return arg;\n}}\n");
    }
    // A random outcome: some of what was read, and perhaps what is there at the end.
    let mut outcome = Vec::new();
    for (number, &registers) in known.iter().enumerate() {
        for register in 0..registers.min(4) {
            if !dice.one_in(3) {
                outcome.push(format!("out[{number}][{register}] == {}", dice.pick(&[0, 0, 1, 1, 2, 3])));
            }
        }
    }
    if dice.one_in(2) || outcome.is_empty() {
        let cell = dice.pick(&CELLS[..cells]);
        outcome.push(format!("atomic_load_explicit(&{cell}, memory_order_relaxed) == {}", dice.below(3)));
    }
    if counter && dice.one_in(2) {
        outcome.push(format!("atomic_load_explicit(&k, memory_order_relaxed) == {}", dice.below(5)));
    }
    finish(&mut text, threads, &outcome);
    text
}

/// A program in the front end's words.
pub fn compiled(text: &str) -> Compiled {
    let file = SourceFile::new("random.c", text);
    match fencepost_c::compile(&file, &fencepost_c::Options::default()) {
        Ok(compiled) => compiled,
        Err(failure) => panic!("{failure:?}\n{text}"),
    }
}

/// How `check` prepares a program for this engine.
pub const FORM: Form = Form { bound_loops: false, divide_choices: false, ..Form::EXPLORE };

/// Loops go round so often.
pub const UNROLL: u32 = 3;

pub fn prepared(compiled: &Compiled, model: &str, form: Form) -> Prepared {
    let entry = registry::find(model).expect("built in");
    let options = prepare::Options { unroll: UNROLL, ..prepare::Options::default() };
    prepare(&compiled.program, compiled.language, entry, form, &options).expect("prepared")
}

/// What the explorer says: the kinds of what is wrong; nothing if it gives up, or if `naive` does not confirm what it found:
/// then it says so, and names the program.
pub fn explored(compiled: &Compiled, name: &str, model: &Model, text: &str) -> Option<Vec<FindingKind>> {
    let prepared = prepared(compiled, name, Form::EXPLORE);
    let limits = explore::Limits { max_nodes: Some(60_000), ..explore::Limits::default() };
    let options = explore::Options {
        limits,
        stop_at_error: false,
        section_lock: prepared.section_lock,
        ..explore::Options::new(ModelName::from_name(name).expect("a twin"))
    };
    let found = explore::explore(&prepared.program, &options).ok()?;
    if found.stopped.is_some() {
        return None;
    }
    for finding in found.findings.iter().filter(|finding| !finding.execution.threads.is_empty()) {
        let recorded = as_recorded(finding);
        if let Err(refused) = confirm_within(&prepared.program, model, &recorded, &Limits::default()) {
            println!("what the explorer found under {name} is not confirmed: {refused:?}\n{text}");
            return None;
        }
    }
    let mut kinds: Vec<FindingKind> = found.findings.iter().map(|finding| finding.kind).collect();
    kinds.retain(|kind| kind.severity() == Severity::Error);
    kinds.sort_by_key(|kind| kind.name());
    kinds.dedup();
    Some(kinds)
}

/// What the explorer found as `naive` wants it.
fn as_recorded(finding: &explore::Finding) -> Recorded<'_> {
    Recorded {
        kind: finding.kind,
        sites: finding.places.iter().map(|place| (place.thread, place.at)).collect(),
        execution: &finding.execution,
        dependencies: true,
    }
}

/// How this engine is asked.
pub fn options(model: &Model) -> axiom::Options<'static> {
    axiom::Options {
        unroll: UNROLL,
        thread_fence: thread_fence(model),
        private_memory: true,
        dependencies: true,
        lemmas: true,
        ordered: registry::find(model.name()).map_or(Ordered::Sight, |entry| entry.ordered),
        limits: fencepost_bmc::Limits::default(),
        progress: None,
    }
}

/// What this engine says; what it finds is run again.
pub fn answered(
    compiled: &Compiled,
    name: &str,
    model: &Model,
    options: &axiom::Options<'_>,
) -> Result<Outcome<Wrong>, String> {
    let prepared = prepared(compiled, name, FORM);
    let outcome = axiom::check(&prepared.program, model, options).map_err(|refused| match refused {
        Refused::Program(what, _) => what,
        Refused::Model(what) => what.what,
    })?;
    if outcome.verdict == Verdict::Unsafe {
        let recorded = recorded(&outcome);
        if let Err(refused) = confirm_within(&prepared.program, model, &recorded, &Limits::default()) {
            panic!("{name}: {:?} is refused: {refused:?}\n{:#?}", recorded.kind, recorded.execution);
        }
    }
    Ok(outcome)
}

/// What was found as `naive` wants it.
fn recorded(outcome: &Outcome<Wrong>) -> Recorded<'_> {
    let kind = outcome.finding.as_ref().expect("something was found").kind;
    let found = outcome.run.as_ref().expect("an execution");
    let expected = [ProblemKind::DataRace, ProblemKind::Assertion, ProblemKind::OutOfBounds];
    assert!(expected.contains(&kind), "{kind:?} is not expected here");
    Recorded { kind, sites: found.places.clone(), execution: &found.execution, dependencies: true }
}
