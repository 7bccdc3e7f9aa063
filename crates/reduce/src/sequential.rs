//! An SC program as a sequential C program, for checkers of C that know no threads, or are slow at them.
//!
//! Threads are flat (`ir::flat`): calls inlined, loops unrolled, every jump forward. Each becomes a function whose registers are
//! static, that may
//! return before any step which others can notice, and that goes on there when it is called again; so a run with a bounded number
//! of
//! contexts is a list of calls. This is the idea of lazy sequentialisation `[IMP14]`, with jumps in place of its guards.
//!
//! Nothing interrupts a thread in an atomic section, and a section is a flag that is set while the program runs: the translations
//! of TSO and
//! of the promising semantics begin sections on one path and end them on another. A read-modify-write is a load and a store with
//! nothing
//! between them. What a bound cuts off is an assumption that fails.
//!
//! Types are as narrow as `ranges` shows, addresses are indices of arrays, and an address that may leave its object is checked.
//!
//! Reference: `[IMP14]` O. Inverso, E. Tomasco, B. Fischer, S. La Torre, G. Parlato, Bounded model checking of multi-threaded C
//! programs via
//! lazy sequentialization, CAV 2014.

mod buffers;
mod plain;

use crate::c::{bits, expression, extended, literal, object_name, runs};
use crate::ranges::{Range, Ranges};
use crate::{Bound, Unsupported};
use fencepost_diag::Span;
use fencepost_ir::flat::{self, Flat, Op, Step};
use fencepost_ir::{
    Compare, Extend, FinalCondition, ObjectId, Observable, Operand, Program, Property, Proposition,
    Quantifier, Reg, Term, Value, Width,
};
use plain::as_it_is;
use std::fmt::Write;

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How often threads are let on.
    pub contexts: Contexts,
    /// How often a loop may go back.
    pub unroll: u32,
    /// Mutexes know their owners, as in C.
    pub owners: bool,
    /// Stores wait as under TSO; without this they do not.
    pub stores: Option<Bound>,
}

/// How often threads are let on, at most. For one thread, once is enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contexts {
    /// All threads together.
    Total(u32),
    /// As often as there are threads, times this.
    PerThread(u32),
    /// As often as there are threads, and this.
    BesideThreads(u32),
}

/// A printed program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sequential {
    /// The text.
    pub text: String,
    /// A loop was cut off, so that more unrolling may show more.
    pub cut: bool,
    /// The assertion at the end fails if a state exists that the program asks for: that it fails is no mistake, that it does not
    /// is one.
    pub exists: bool,
    /// How often threads are let on; `None` if no run has more contexts.
    pub contexts: Option<u32>,
}

const HEAD: &str = "\
#include <assert.h>
#include <stdint.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern short __VERIFIER_nondet_short(void);
extern int __VERIFIER_nondet_int(void);
extern long long __VERIFIER_nondet_longlong(void);
extern void __VERIFIER_assume(int condition);

";

/// Prints a program.
pub fn print_sequential(program: &Program, options: &Options) -> Result<Sequential, Unsupported> {
    let settings = flat::Options { owners: options.owners, ..flat::Options::new(options.unroll) };
    let flat = flat::flatten(program, settings).map_err(|e| Unsupported { what: e.what, span: e.span })?;
    print_flat(program, &flat, options)
}

/// Prints a program whose threads have one function each and call no others, as the translations of POWER and of the promising
/// semantics
/// give it. Jumps back stay: how often they are taken is up to who reads the result.
pub fn print_as_it_is(program: &Program, contexts: Contexts) -> Result<Sequential, Unsupported> {
    let flat = as_it_is(program)?;
    print_flat(program, &flat, &Options { contexts, unroll: 0, owners: false, stores: None })
}

fn print_flat(program: &Program, flat: &Flat, options: &Options) -> Result<Sequential, Unsupported> {
    let ranges = Ranges::new(flat);
    let alone = flat.threads.len() == 1;
    let stores = options.stores.filter(|_| !alone);
    let mut printer = Printer { flat, ranges, out: String::new(), alone, points: 0, stores };
    let _ = write!(printer.out, "/* {} */\n{HEAD}", program.name.replace("*/", "* /"));
    if !printer.alone {
        printer.out += "static unsigned context;\n";
    }
    printer.objects();
    if let Some(stores) = stores {
        printer.buffers(stores);
    }
    for thread in 0..flat.threads.len() {
        printer.declare(thread);
    }
    for thread in 0..flat.threads.len() {
        printer.thread(thread)?;
    }
    let condition = match &program.property {
        Property::Final(condition) => Some(condition),
        Property::Assertions => None,
    };
    // A thread that is let on does one thing that others can notice at least.
    let most = printer.points + flat.threads.len() as u32;
    let threads = flat.threads.len() as u32;
    let asked = match options.contexts {
        Contexts::Total(contexts) => contexts,
        Contexts::PerThread(times) => threads.saturating_mul(times),
        Contexts::BesideThreads(more) => threads.saturating_add(more),
    };
    // Where stores wait, a thread may be let on again and again for them to reach memory.
    let most = if stores.is_some() { u32::MAX } else { most };
    let contexts = if printer.alone { 1 } else { asked.min(most) };
    printer.main(contexts, condition)?;
    Ok(Sequential {
        text: printer.out,
        cut: flat.cuts,
        exists: condition.is_some_and(|condition| condition.quantifier == Quantifier::Exists),
        contexts: (!printer.alone && contexts < most).then_some(contexts),
    })
}

struct Printer<'p> {
    flat: &'p Flat,
    ranges: Ranges,
    out: String,
    /// There is one thread: nobody interrupts it.
    alone: bool,
    /// Places where threads may be interrupted.
    points: u32,
    /// Stores wait.
    stores: Option<Bound>,
}

/// The narrowest type for a range.
fn type_of(range: &Range) -> String {
    let fits = |least: i64, greatest: i64| least <= range.least && range.greatest <= greatest;
    for bits in [8u32, 16, 32] {
        if fits(0, (1 << bits) - 1) {
            return format!("uint{bits}_t");
        }
        if fits(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) {
            return format!("int{bits}_t");
        }
    }
    (if range.least < 0 { "int64_t" } else { "uint64_t" }).into()
}

fn register(thread: usize, reg: Reg) -> String {
    format!("t{thread}_r{}", reg.0)
}

/// As a number of 64 bits: what is negative and short would become positive in an unsigned type.
fn operand(thread: usize, operand: &Operand) -> String {
    match operand {
        Operand::Reg(reg) => register(thread, *reg),
        Operand::Const(value) => match value.as_i64() {
            number if i32::try_from(number).is_ok() => format!("({number})"),
            _ => literal(*value),
        },
    }
}

impl Printer<'_> {
    fn objects(&mut self) {
        for index in 0..self.flat.objects.len() {
            let kind = type_of(&self.ranges.cells[index]);
            for run in runs(&self.flat.objects, index) {
                let mut values = Vec::new();
                for cell in run.cells {
                    let value = cell.init.map_or(Value::ZERO, |value| cell.width.extend(Extend::Sign, value));
                    values.push(operand(0, &Operand::Const(value)));
                }
                if values.iter().all(|value| value == "(0)") {
                    values.truncate(1);
                }
                let (name, length) = (&run.name, run.cells.len());
                let _ = writeln!(self.out, "static {kind} {name}[{length}] = {{{}}};", values.join(", "));
            }
        }
        self.out.push('\n');
    }

    /// Registers, and where a thread stands; others may look at them.
    fn declare(&mut self, thread: usize) {
        let code = &self.flat.threads[thread].code;
        let used = used(code, self.flat.threads[thread].outer, self.flat.threads[thread].result);
        for (reg, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            let kind = type_of(&self.ranges.registers[thread][reg]);
            let _ = writeln!(self.out, "static {kind} {};", register(thread, Reg(reg as u32)));
        }
        if !self.alone {
            let from_start = u8::from(self.flat.threads[thread].parent.is_none());
            let _ = writeln!(
                self.out,
                "static _Bool t{thread}_section, t{thread}_done, t{thread}_started = {from_start};\n\
                 static unsigned short t{thread}_at;\nstatic unsigned char t{thread}_held;"
            );
        }
    }

    fn thread(&mut self, thread: usize) -> Result<(), Unsupported> {
        let _ = writeln!(self.out, "\nstatic void thread_{thread}(void) {{");
        if self.alone {
            self.steps_alone(thread)?;
        } else {
            self.steps_with_others(thread)?;
        }
        self.out += "}\n\n";
        Ok(())
    }

    fn steps_alone(&mut self, thread: usize) -> Result<(), Unsupported> {
        let code = &self.flat.threads[thread].code;
        let targets = targets(code);
        if targets[0] {
            let _ = writeln!(self.out, "L{thread}_0:;");
        }
        self.steps(thread, 0..code.len(), &targets)?;
        if targets[code.len()] {
            let _ = writeln!(self.out, "L{thread}_{}:;", code.len());
        }
        Ok(())
    }

    /// Steps that nobody interrupts, without the label of the first.
    fn steps(
        &mut self,
        thread: usize,
        range: std::ops::Range<usize>,
        targets: &[bool],
    ) -> Result<(), Unsupported> {
        for at in range.clone() {
            let step = &self.flat.threads[thread].code[at];
            if targets[at] && at != range.start {
                let _ = writeln!(self.out, "L{thread}_{at}:;");
            }
            let text = self.step(thread, step)?;
            if text != ";" {
                let _ = writeln!(self.out, "  {text}");
            }
            if step.next as usize != at + 1 && !matches!(step.op, Op::Branch { .. }) {
                let _ = writeln!(self.out, "  goto L{thread}_{};", step.next);
            }
        }
        Ok(())
    }

    /// The end of the section that begins with a step, if all ways through it end there, none goes back, and none comes in
    /// elsewhere.
    fn whole_section(&self, code: &[Step], begin: usize) -> Option<usize> {
        if !matches!(code[begin].op, Op::AtomicBegin) || self.stores.is_some() {
            return None;
        }
        let end = begin + code[begin..].iter().position(|step| matches!(step.op, Op::AtomicEnd))? + 1;
        let nexts = |step: &Step| match step.op {
            Op::Branch { other, .. } => [step.next as usize, other as usize],
            _ => [step.next as usize; 2],
        };
        let inside = |at: usize| begin < at && at < end;
        let stays = (begin..end).all(|at| nexts(&code[at]).into_iter().all(|to| at < to && to <= end));
        let leaves_by_end = (begin..end - 1).all(|at| nexts(&code[at]).into_iter().all(inside));
        let enters = code
            .iter()
            .enumerate()
            .any(|(at, step)| !(begin..end).contains(&at) && nexts(step).into_iter().any(inside));
        (stays && leaves_by_end && !enters).then_some(end)
    }

    /// Steps are done while `on`: from the point where the thread was interrupted up to the one where it is interrupted again.
    /// What
    /// is not done is walked over, so that a point needs no merge of everything that two ways to it have done.
    fn steps_with_others(&mut self, thread: usize) -> Result<(), Unsupported> {
        let code = &self.flat.threads[thread].code;
        let (targets, sections) = (targets(code), sections(code));
        let goes_back = code.iter().enumerate().any(|(at, step)| {
            let other = if let Op::Branch { other, .. } = step.op { other } else { u32::MAX };
            step.next.min(other) as usize <= at
        });
        // Where a thread goes back it may pass a point several times.
        let stops = if goes_back { "__VERIFIER_nondet_bool()" } else { "stop == #" };
        self.out += "  unsigned short entry = ";
        let _ = writeln!(self.out, "t{thread}_at;\n  _Bool on = entry == 0;");
        if !goes_back {
            self.out += "  unsigned short stop = __VERIFIER_nondet_ushort();\n  (void)stop;\n";
        }
        if self.stores.is_some() {
            let _ = writeln!(self.out, "  begin_{thread}();");
        }
        let mut points = 0;
        let mut point = |out: &mut String, condition: String| {
            points += 1;
            let _ = writeln!(
                out,
                "  if (entry == {points}) on = 1; else if (on && {}) {{ on = 0; t{thread}_at = {points}; entry = 65535; }}",
                condition.replace('#', &points.to_string())
            );
        };
        let mut skip = 0;
        for (at, step) in code.iter().enumerate() {
            if at < skip {
                continue;
            }
            if targets[at] {
                let _ = writeln!(self.out, "L{thread}_{at}:;");
            }
            let may_stop = others_notice(&step.op) || self.stores.is_some() && waits_for_stores(&step.op);
            if may_stop && sections[at] != Section::Inside {
                let outside =
                    if sections[at] == Section::Outside { "" } else { &format!("!t{thread}_section && ") };
                point(&mut self.out, format!("{outside}{stops}"));
            }
            if let Some(end) = self.whole_section(code, at) {
                // Nobody interrupts it, so it is done as a whole or not at all.
                self.out += "  if (on) {\n";
                self.steps(thread, at..end, &targets)?;
                self.out += "  }\n";
                skip = end;
                continue;
            }
            let text = self.step(thread, step)?;
            if text != ";" {
                let _ = writeln!(self.out, "  if (on) {{ {text} }}");
            }
            if step.next as usize != at + 1 && !matches!(step.op, Op::Branch { .. }) {
                let _ = writeln!(self.out, "  if (on) goto L{thread}_{};", step.next);
            }
        }
        if targets[code.len()] {
            let _ = writeln!(self.out, "L{thread}_{}:;", code.len());
        }
        if self.stores.is_some() {
            // A thread ends when its stores have reached memory.
            points += 1;
            let _ = writeln!(
                self.out,
                "  if (entry == {points}) on = 1;\n  if (on && t{thread}_lead) {{ on = 0; t{thread}_at = {points}; }}"
            );
        }
        let _ = writeln!(self.out, "  if (on) t{thread}_done = 1;");
        self.points += points;
        Ok(())
    }

    fn step(&self, thread: usize, step: &Step) -> Result<String, Unsupported> {
        if self.stores.is_some()
            && let Some(text) = self.buffered(thread, step)?
        {
            return Ok(text);
        }
        let refuse = |what: &str| Err(Unsupported { what: what.into(), span: step.span });
        let print = |value: &Operand| operand(thread, value);
        Ok(match &step.op {
            Op::Skip | Op::Fence(_) => ";".into(),
            Op::Assign { dst, value } => match expression(value, &print) {
                Ok(text) => format!("{} = {text};", register(thread, *dst)),
                Err(what) => return refuse(&what),
            },
            Op::Nondet { dst, first, last } => choice(&register(thread, *dst), *first, *last),
            Op::Load { dst, addr, width, extend, reserve } => {
                let dst = register(thread, *dst);
                let held = if *reserve && !self.alone {
                    format!(" t{thread}_held = context;")
                } else {
                    String::new()
                };
                self.access(thread, addr, *width, step.span, &|place| {
                    format!("{dst} = {};{held}", extended(*width, *extend, place))
                })?
            }
            Op::Store { addr, value, width, paired } => {
                let held = match *paired && !self.alone {
                    true => format!("__VERIFIER_assume(t{thread}_section || t{thread}_held == context); "),
                    false => String::new(),
                };
                let value = format!("(int{}_t){}", bits(*width), print(value));
                held + &self
                    .access(thread, addr, *width, step.span, &|place| format!("{place} = {value};"))?
            }
            Op::Branch { condition, other } => format!(
                "if ({} != 0) goto L{thread}_{}; else goto L{thread}_{other};",
                print(condition),
                step.next
            ),
            Op::Assume(condition) => format!("__VERIFIER_assume({} != 0);", print(condition)),
            Op::Assert { condition, message, .. } => {
                let message: String = message.chars().filter(|c| !"*/\\\n".contains(*c)).collect();
                format!("assert({} != 0); /* {message} */", print(condition))
            }
            Op::Spawn(other) => format!("t{other}_started = 1;"),
            Op::Join { thread: Operand::Const(number), dst }
                if (number.0 as usize) < self.flat.threads.len() =>
            {
                let other = number.0 as usize;
                let result = register(other, self.flat.threads[other].result);
                let taken =
                    dst.map_or(String::new(), |dst| format!(" {} = {result};", register(thread, dst)));
                format!("__VERIFIER_assume(t{other}_done);{taken}")
            }
            Op::Join { .. } => return refuse("a join of a thread that is not known in advance"),
            Op::Cut => "__VERIFIER_assume(0);".into(),
            Op::AtomicBegin if self.alone => ";".into(),
            Op::AtomicEnd if self.alone => ";".into(),
            Op::AtomicBegin => format!("t{thread}_section = 1;"),
            Op::AtomicEnd => format!("t{thread}_section = 0;"),
        })
    }

    /// A statement about the cell at an address; one for each array that it may be in.
    fn access(
        &self,
        thread: usize,
        addr: &Operand,
        width: Width,
        span: Span,
        statement: &dyn Fn(&str) -> String,
    ) -> Result<String, Unsupported> {
        const OUTSIDE: &str = "assert(0); /* an access outside of every object */";
        if let Operand::Const(value) = addr {
            let found = value.as_pointer().and_then(|(ObjectId(object), offset)| {
                let all = if (object as usize) < self.flat.objects.len() {
                    runs(&self.flat.objects, object as usize)
                } else {
                    Vec::new()
                };
                all.into_iter().find_map(|run| {
                    let index =
                        run.cells.iter().position(|cell| cell.offset == offset && cell.width == width)?;
                    Some(format!("{}[{index}]", run.name))
                })
            });
            return Ok(found.map_or(OUTSIDE.into(), |place| statement(&place)));
        }
        let range = self.ranges.operand(thread, addr);
        let text = operand(thread, addr);
        let mut ways = Vec::new();
        for &object in range.objects.iter().filter(|object| (**object as usize) < self.flat.objects.len()) {
            let base = Value::pointer(ObjectId(object), 0).0;
            for run in runs(&self.flat.objects, object as usize).iter().filter(|run| run.width == width) {
                let (bytes, start) = (width.bytes(), u64::from(run.start()));
                let length = run.cells.len() as u64 * u64::from(bytes);
                let index = match start {
                    0 => format!("(uint32_t){text} / {bytes}"),
                    _ => format!("((uint32_t){text} - {start}u) / {bytes}"),
                };
                let place = format!("{}[{index}]", run.name);
                let (first, last) = (base + start, base + start + length - u64::from(bytes));
                let aligned = range.zeros >= bytes.trailing_zeros() && start % u64::from(bytes) == 0;
                let inside = range.least >= first as i64 && range.greatest < last as i64 + i64::from(bytes);
                let mut guard = Vec::new();
                if !inside {
                    let (first, last) = (literal(Value(first)), literal(Value(last)));
                    guard.push(format!("(uint64_t){text} >= {first} && (uint64_t){text} <= {last}"));
                }
                if !aligned {
                    guard.push(format!("((uint32_t){text} - {start}u) % {bytes} == 0"));
                }
                if guard.is_empty() {
                    ways.push(format!("{{ {} }}", statement(&place)));
                    return Ok(ways.join(" else "));
                }
                ways.push(format!("if ({}) {{ {} }}", guard.join(" && "), statement(&place)));
            }
        }
        if ways.is_empty() && !range.objects.is_empty() {
            let name = range.objects.iter().find_map(|o| self.flat.objects.get(*o as usize).map(|_| *o));
            let what = name.map_or(String::new(), |o| object_name(&self.flat.objects, o as usize));
            return Err(Unsupported { what: format!("an access to parts of `{what}`"), span });
        }
        ways.push(format!("{{ {OUTSIDE} }}"));
        Ok(ways.join(" else "))
    }

    /// Cells without a value may hold anything.
    fn undefined_cells(&self) -> String {
        let mut text = String::new();
        for index in 0..self.flat.objects.len() {
            for run in runs(&self.flat.objects, index) {
                for (at, cell) in run.cells.iter().enumerate().filter(|(_, cell)| cell.init.is_none()) {
                    let bits = bits(cell.width);
                    let _ =
                        writeln!(text, "  {}[{at}] = (int{bits}_t)__VERIFIER_nondet_longlong();", run.name);
                }
            }
        }
        text
    }

    fn main(&mut self, contexts: u32, condition: Option<&FinalCondition>) -> Result<(), Unsupported> {
        let undefined = self.undefined_cells();
        if self.alone {
            let _ = write!(self.out, "int main(void) {{\n{undefined}  thread_0();\n");
        } else {
            let threads = self.flat.threads.len();
            self.out +=
                "static unsigned choose(void) {\n  unsigned char thread = __VERIFIER_nondet_uchar();\n";
            let _ = writeln!(self.out, "  __VERIFIER_assume(thread < {threads});\n  return thread;\n}}\n");
            let last = if self.stores.is_none() { ", last" } else { "" };
            let _ = write!(self.out, "int main(void) {{\n  unsigned thread{last};\n{undefined}");
            for context in 1..=contexts {
                let _ = writeln!(self.out, "  thread = choose(); context = {context};");
                // The same thread twice in a row is one context, unless its stores come nearer to memory.
                if context > 1 && self.stores.is_none() {
                    let _ = writeln!(self.out, "  __VERIFIER_assume(thread != last);");
                }
                let ways: Vec<String> = (0..threads)
                    .map(|t| {
                        format!(
                            "if (thread == {t}) {{ __VERIFIER_assume(t{t}_started && !t{t}_done); thread_{t}(); }}"
                        )
                    })
                    .collect();
                let _ = writeln!(self.out, "  {}", ways.join("\n  else "));
                if self.stores.is_none() {
                    self.out += "  last = thread;\n";
                }
                // A run may end before all contexts are used up.
                if context < contexts {
                    let _ = writeln!(self.out, "  if (__VERIFIER_nondet_bool()) goto end;");
                }
            }
            self.out += "end:;\n";
        }
        if let Some(condition) = condition {
            self.finally(condition)?;
        }
        self.out += "  return 0;\n}\n";
        Ok(())
    }

    /// All threads have ended; the condition is about what is left.
    fn finally(&mut self, condition: &FinalCondition) -> Result<(), Unsupported> {
        if !self.alone {
            for thread in 0..self.flat.threads.len() {
                let _ = writeln!(self.out, "  __VERIFIER_assume(!t{thread}_started || t{thread}_done);");
            }
        }
        let mut places = Vec::new();
        for observable in &condition.observed {
            places.push(match *observable {
                Observable::Register { thread, reg } => register(thread.0 as usize, reg),
                Observable::Memory { object, offset, width } => {
                    let addr = Operand::Const(Value::pointer(object, offset));
                    self.access(0, &addr, width, Span::default(), &|place| place.to_string())?
                }
            });
        }
        if let Some(filter) = &condition.filter {
            let _ = writeln!(self.out, "  __VERIFIER_assume({});", proposition(filter, &places));
        }
        let text = proposition(&condition.proposition, &places);
        let _ = match condition.quantifier {
            Quantifier::ForAll => writeln!(self.out, "  assert({text});"),
            Quantifier::NotExists => writeln!(self.out, "  assert(!({text}));"),
            Quantifier::Exists => {
                writeln!(self.out, "  assert(!({text})); /* the program is right if this can fail */")
            }
        };
        Ok(())
    }
}

/// Whether a step is in an atomic section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Section {
    Never,
    Outside,
    Inside,
    Either,
}

/// For each step, whether it is in a section.
fn sections(code: &[Step]) -> Vec<Section> {
    let mut sections = vec![Section::Never; code.len() + 1];
    sections[0] = Section::Outside;
    let mut changed = true;
    while changed {
        changed = false;
        for (at, step) in code.iter().enumerate() {
            if sections[at] == Section::Never {
                continue;
            }
            let after = match step.op {
                Op::AtomicBegin => Section::Inside,
                Op::AtomicEnd => Section::Outside,
                _ => sections[at],
            };
            let other = if let Op::Branch { other, .. } = step.op { Some(other) } else { None };
            for to in other.into_iter().chain([step.next]) {
                let merged = match sections[to as usize] {
                    Section::Never => after,
                    known if known == after => known,
                    _ => Section::Either,
                };
                changed |= merged != std::mem::replace(&mut sections[to as usize], merged);
            }
        }
    }
    sections
}

/// Steps that something jumps to.
fn targets(code: &[Step]) -> Vec<bool> {
    let mut targets = vec![false; code.len() + 1];
    for (at, step) in code.iter().enumerate() {
        targets[step.next as usize] |= step.next as usize != at + 1 || matches!(step.op, Op::Branch { .. });
        if let Op::Branch { other, .. } = step.op {
            targets[other as usize] = true;
        }
    }
    targets
}

/// Whether other threads can tell when this is done.
fn others_notice(op: &Op) -> bool {
    matches!(op, Op::Load { .. } | Op::Store { paired: false, .. } | Op::Join { .. } | Op::AtomicBegin)
}

/// Whether this waits until the stores of its thread have reached memory, under TSO.
fn waits_for_stores(op: &Op) -> bool {
    matches!(op, Op::Fence(_) | Op::Spawn(_) | Op::Store { paired: true, .. })
}

/// Registers that are mentioned, and those that somebody outside may look at.
fn used(code: &[Step], outer: u32, result: Reg) -> Vec<bool> {
    let mut used = vec![false; outer as usize];
    used.iter_mut().for_each(|used| *used = true);
    let mut mark = |reg: Reg| {
        let at = reg.0 as usize;
        used.resize(used.len().max(at + 1), false);
        used[at] = true;
    };
    mark(result);
    for step in code {
        let mut operands = Vec::new();
        match &step.op {
            Op::Assign { dst, value } => {
                mark(*dst);
                match *value {
                    fencepost_ir::Rvalue::Use(a) | fencepost_ir::Rvalue::Unary(_, _, _, a) => {
                        operands.push(a)
                    }
                    fencepost_ir::Rvalue::Binary(_, _, _, a, b) => operands.extend([a, b]),
                    fencepost_ir::Rvalue::Select(c, a, b) => operands.extend([c, a, b]),
                }
            }
            Op::Nondet { dst, .. } => mark(*dst),
            Op::Load { dst, addr, .. } => {
                mark(*dst);
                operands.push(*addr);
            }
            Op::Store { addr, value, .. } => operands.extend([*addr, *value]),
            Op::Branch { condition, .. } | Op::Assume(condition) | Op::Assert { condition, .. } => {
                operands.push(*condition);
            }
            Op::Join { thread, dst } => {
                dst.iter().for_each(|dst| mark(*dst));
                operands.push(*thread);
            }
            Op::Skip | Op::Fence(_) | Op::Spawn(_) | Op::Cut | Op::AtomicBegin | Op::AtomicEnd => {}
        }
        for operand in operands {
            if let Operand::Reg(reg) = operand {
                mark(reg);
            }
        }
    }
    used
}

/// Any number of a range, asked for with as few bits as it has.
fn choice(register: &str, first: i64, last: i64) -> String {
    let within = |least: i64, greatest: i64| least <= first && last <= greatest;
    let (call, least, greatest) = match () {
        () if within(0, 1) => ("bool", 0, 1),
        () if within(0, 0xff) => ("uchar", 0, 0xff),
        () if within(-0x8000, 0x7fff) => ("short", -0x8000, 0x7fff),
        () if within(i32::MIN.into(), i32::MAX.into()) => ("int", i32::MIN.into(), i32::MAX.into()),
        () => ("longlong", i64::MIN, i64::MAX),
    };
    let mut text = format!("{register} = __VERIFIER_nondet_{call}();");
    if first > least {
        let _ = write!(text, " __VERIFIER_assume((int64_t){register} >= {first});");
    }
    if last < greatest {
        let _ = write!(text, " __VERIFIER_assume((int64_t){register} <= {last});");
    }
    text
}

fn proposition(it: &Proposition, places: &[String]) -> String {
    let all = |parts: &[Proposition], sign: &str, none: &str| match parts.is_empty() {
        true => none.to_string(),
        false => {
            let parts: Vec<String> =
                parts.iter().map(|part| format!("({})", proposition(part, places))).collect();
            parts.join(sign)
        }
    };
    match it {
        Proposition::True => "1".into(),
        Proposition::False => "0".into(),
        Proposition::Not(inner) => format!("!({})", proposition(inner, places)),
        Proposition::And(parts) => all(parts, " && ", "1"),
        Proposition::Or(parts) => all(parts, " || ", "0"),
        Proposition::Implies(a, b) => {
            format!("!({}) || ({})", proposition(a, places), proposition(b, places))
        }
        Proposition::Atom(left, compare, right) => {
            let sign = match compare {
                Compare::Eq => "==",
                Compare::Ne => "!=",
                Compare::Lt => "<",
                Compare::Le => "<=",
                Compare::Gt => ">",
                Compare::Ge => ">=",
            };
            let right = match right {
                Term::Value(value) => operand(0, &Operand::Const(*value)),
                Term::Observed(index) => places[*index].clone(),
            };
            format!("(int64_t){} {sign} (int64_t){right}", places[*left])
        }
    }
}
