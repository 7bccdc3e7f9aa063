//! A sketch as the text of a litmus test.

use crate::cycle::Cycle;
use crate::edge::{Dir, Kind, Note, Order, Size};
use crate::sketch::{self, Before, Sketch};
use crate::{Dialect, name};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Which registers and locations are part of the condition's final states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observe {
    /// Those that the cycle says something about.
    Cycle,
    /// Everything that is read, and every location: more states, the same condition.
    Everything,
}

/// An access as a dialect writes it.
pub(crate) struct Place<'a> {
    /// The location.
    pub location: &'a str,
    /// Its annotation.
    pub note: Note,
    /// Its size and place in the location.
    pub size: Size,
    /// A register that the address depends on.
    pub address: Option<String>,
}

/// How accesses, fences and dependencies are written.
pub(crate) trait Assembly: Sync {
    /// The register of that number, as conditions call it.
    fn register(&self, index: usize) -> String;
    /// The initial value of a register that holds an address; none if addresses are written in instructions.
    fn address_init(&self, thread: usize, register: &str, location: &str) -> Option<String> {
        Some(format!("{thread}:{register}={location};"))
    }
    /// A read; gives the register that it reads into.
    fn load(&self, text: &mut Text, place: &Place<'_>) -> String;
    /// A write of a value, which may depend on a register.
    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, data: Option<String>);
    /// A read and a write at once; gives the register that it reads into. `write` is the annotation of the write.
    fn rmw(&self, text: &mut Text, place: &Place<'_>, write: Note, value: u64) -> String;
    /// The same by one instruction; with an expected value, a compare-and-swap.
    fn amo(
        &self,
        text: &mut Text,
        place: &Place<'_>,
        write: Note,
        value: u64,
        _expected: Option<u64>,
    ) -> String {
        self.rmw(text, place, write, value)
    }
    /// A fence.
    fn fence(&self, text: &mut Text, fence: &str) {
        text.line(fence.to_owned());
    }
    /// A branch that the register decides, and that leads on in any case.
    fn branch(&self, text: &mut Text, register: &str);
    /// How a register is called in the condition, if it is not the name it has in instructions.
    fn shown(&self, register: &str) -> String {
        register.to_owned()
    }
    /// What follows the last access.
    fn finish(&self, _text: &mut Text) {}
}

/// The text of a thread.
pub(crate) struct Text {
    pub thread: usize,
    dialect: Dialect,
    pub lines: Vec<String>,
    next: usize,
    bases: BTreeMap<String, String>,
    pub inits: Vec<String>,
    labels: usize,
    /// Some store-exclusive may fail, which ends the thread.
    pub fails: bool,
    /// Locations that are mentioned, in order.
    pub used: Vec<String>,
    /// What is read besides what accesses read: what exclusive pairs found, and whether they succeeded.
    pub beside: Vec<String>,
    /// Registers that say whether a store happened, and what they hold then.
    pub required: Vec<(String, u64)>,
    /// Declarations, for languages that have them.
    pub locals: Vec<String>,
    /// Closing braces that are still to come.
    pub depth: usize,
}

impl Text {
    fn new(thread: usize, dialect: Dialect) -> Text {
        Text {
            thread,
            dialect,
            lines: Vec::new(),
            next: 0,
            bases: BTreeMap::new(),
            inits: Vec::new(),
            labels: 0,
            fails: false,
            used: Vec::new(),
            beside: Vec::new(),
            required: Vec::new(),
            locals: Vec::new(),
            depth: 0,
        }
    }

    /// A line.
    pub fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// A register that nothing uses.
    pub fn fresh(&mut self) -> String {
        self.next += 1;
        self.dialect.assembly().register(self.next - 1)
    }

    /// The register that holds the address of a location.
    pub fn base(&mut self, location: &str) -> String {
        if let Some(register) = self.bases.get(location) {
            return register.clone();
        }
        let register = self.fresh();
        self.inits.extend(self.dialect.assembly().address_init(self.thread, &register, location));
        self.bases.insert(location.to_owned(), register.clone());
        register
    }

    /// A label that is not used yet.
    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("LC{}{}", self.thread, self.labels - 1)
    }
}

/// A thread and what is observed of it: registers, and what they are to hold.
struct Written {
    text: Text,
    observed: Vec<(String, Option<u64>)>,
}

/// The most registers that a thread of an architecture has room for.
fn most_registers(dialect: Dialect) -> usize {
    match dialect {
        Dialect::X86 | Dialect::X86_64 => 6,
        Dialect::Arm => 13,
        Dialect::RiscV => 27,
        Dialect::C | Dialect::Kernel => 1000,
        _ => 29,
    }
}

/// The litmus test of a cycle, or none where a thread needs more registers than there are.
pub fn write(cycle: &Cycle, test_name: Option<&str>, observe: Observe) -> Option<String> {
    let name = test_name.map_or_else(|| name::of(cycle), str::to_owned);
    let edges = name::edges(cycle);
    write_sketch(&sketch::of(cycle), &name, &format!("\"{edges}\"\nCycle={edges}\n"), observe)
}

/// The litmus test of a sketch with these lines below its name, or none where a thread needs more registers than there are.
pub fn write_sketch(sketch: &Sketch, name: &str, about: &str, observe: Observe) -> Option<String> {
    let threads: Vec<Written> = (0..sketch.threads.len()).map(|thread| thread_text(sketch, thread)).collect();
    if threads.iter().any(|thread| thread.text.next > most_registers(sketch.dialect)) {
        return None;
    }
    let mut out = format!("{} {name}\n{about}", sketch.dialect.header());
    initial_state(&mut out, sketch, &threads, observe);
    match sketch.dialect.is_assembly() {
        true => table(&mut out, &threads),
        false => functions(&mut out, sketch, &threads),
    }
    condition(&mut out, sketch, &threads, observe);
    Some(out)
}

fn thread_text(sketch: &Sketch, thread: usize) -> Written {
    let assembly = sketch.dialect.assembly();
    let mut text = Text::new(thread, sketch.dialect);
    let steps = &sketch.threads[thread];
    // The register that each read was into.
    let mut into: Vec<Option<String>> = vec![None; steps.len()];
    let register =
        |into: &[Option<String>], read: usize| into[read].clone().expect("it depends on a read before it");
    let mut observed = Vec::new();
    let mut index = 0;
    while index < steps.len() {
        let step = &steps[index];
        for before in &step.before {
            match *before {
                Before::Fence(fence) => assembly.fence(&mut text, fence),
                Before::Branch(read) => assembly.branch(&mut text, &register(&into, read)),
            }
        }
        let location = sketch.names[step.location].as_str();
        if !text.used.iter().any(|used| used == location) {
            text.used.push(location.to_owned());
        }
        let whole = sketch.sizes.as_ref().map_or(4, |sizes| sizes[step.location]);
        let size = step.note.size.unwrap_or(Size { bytes: whole, offset: 0 });
        let address = step.address.map(|read| register(&into, read));
        let place = Place { location, note: step.note, size, address };
        let write = steps.get(index + 1).and_then(|next| next.rmw.map(|kind| (next, kind)));
        match (step.dir, write) {
            (Dir::R, Some((write, kind))) => {
                let read = match kind {
                    Kind::Amo(is_cas) => {
                        let expected = step.reads.filter(|_| is_cas);
                        assembly.amo(&mut text, &place, write.note, write.writes, expected)
                    }
                    _ => assembly.rmw(&mut text, &place, write.note, write.writes),
                };
                observed.push((read.clone(), step.reads));
                into[index] = Some(read);
                index += 1;
            }
            (Dir::R, None) => {
                let read = assembly.load(&mut text, &place);
                observed.push((read.clone(), step.reads));
                into[index] = Some(read);
            }
            (Dir::W, _) => {
                let data = step.data.map(|read| register(&into, read));
                assembly.store(&mut text, &place, step.writes, data);
            }
        }
        index += 1;
    }
    assembly.finish(&mut text);
    Written { text, observed }
}

fn initial_state(out: &mut String, sketch: &Sketch, threads: &[Written], observe: Observe) {
    out.push('{');
    if let Some(sizes) = &sketch.sizes {
        for (name, &bytes) in sketch.names.iter().zip(sizes) {
            let _ = write!(out, " uint{}_t {name};", 8 * u32::from(bytes));
        }
        for (index, thread) in threads.iter().enumerate() {
            for (register, _) in thread.observed.iter().filter(|(_, reads)| is_shown(reads, observe)) {
                let _ = write!(out, " uint64_t {index}:{};", sketch.dialect.assembly().shown(register));
            }
        }
    }
    for (name, value) in sketch.names.iter().zip(&sketch.initial).filter(|(_, value)| **value != 0) {
        let _ = write!(out, " {name}={value};");
    }
    if threads.iter().any(|thread| thread.text.fails) {
        out.push_str(" ok=1;");
    }
    out.push('\n');
    for thread in threads.iter().filter(|thread| !thread.text.inits.is_empty()) {
        out.push_str(&thread.text.inits.join(" "));
        out.push('\n');
    }
    out.push_str("}\n");
}

fn is_shown(reads: &Option<u64>, observe: Observe) -> bool {
    reads.is_some() || observe == Observe::Everything
}

fn table(out: &mut String, threads: &[Written]) {
    let rows = threads.iter().map(|thread| thread.text.lines.len()).max().unwrap_or(0);
    let widths: Vec<usize> = threads
        .iter()
        .map(|thread| thread.text.lines.iter().map(String::len).max().unwrap_or(0).max(3))
        .collect();
    let mut row = |cells: &dyn Fn(usize) -> String| {
        let cells: Vec<String> =
            (0..threads.len()).map(|index| format!(" {:1$} ", cells(index), widths[index])).collect();
        let _ = writeln!(out, "{};", cells.join("|"));
    };
    row(&|index| format!("P{index}"));
    for line in 0..rows {
        row(&|index| threads[index].text.lines.get(line).cloned().unwrap_or_default());
    }
}

fn functions(out: &mut String, sketch: &Sketch, threads: &[Written]) {
    // A location that no access is atomic to is no atomic one.
    let is_atomic = |name: &String| {
        let mut steps = sketch.threads.iter().flatten().filter(|step| sketch.names[step.location] == *name);
        sketch.dialect == Dialect::C && steps.any(|step| step.note.order != Order::NotAtomic)
    };
    for (index, thread) in threads.iter().enumerate() {
        let ty = |name: &String| if is_atomic(name) { "atomic_int" } else { "int" };
        let parameters: Vec<String> =
            thread.text.used.iter().map(|name| format!("{}* {name}", ty(name))).collect();
        let _ = writeln!(out, "\nP{index}({}) {{", parameters.join(", "));
        for line in thread.text.locals.iter().chain(&thread.text.lines) {
            let _ = writeln!(out, "  {line}");
        }
        out.push_str("}\n");
    }
    out.push('\n');
}

/// `exists` of all that the cycle says; what is observed besides stands in `locations`.
fn condition(out: &mut String, sketch: &Sketch, threads: &[Written], observe: Observe) {
    let (mut atoms, mut besides) = (Vec::new(), Vec::new());
    if threads.iter().any(|thread| thread.text.fails) {
        atoms.push("ok=1".to_owned());
    }
    for (name, last) in sketch.names.iter().zip(&sketch.finals) {
        match last {
            Some(value) => atoms.push(format!("{name}={value}")),
            None => besides.push(format!("{name};")),
        }
    }
    for (index, thread) in threads.iter().enumerate() {
        for (register, reads) in &thread.observed {
            let shown = sketch.dialect.assembly().shown(register);
            match reads {
                Some(value) => atoms.push(format!("{index}:{shown}={value}")),
                None => besides.push(format!("{index}:{shown};")),
            }
        }
        atoms.extend(
            thread.text.required.iter().map(|(register, value)| format!("{index}:{register}={value}")),
        );
        besides.extend(thread.text.beside.iter().map(|register| format!("{index}:{register};")));
    }
    if observe == Observe::Everything && !besides.is_empty() {
        let _ = writeln!(out, "locations [{}]", besides.join(" "));
    }
    if atoms.is_empty() {
        atoms.push("true".to_owned());
    }
    let _ = writeln!(out, "exists ({})", atoms.join(" /\\ "));
}
