//! A program with memory orders and fences as C11 with pthreads: what a litmus test asks, asked of a program.
//!
//! Registers are `uint64_t` locals, so that dependencies are those of the test, and addresses are numbers where the test
//! computes them. A plain access of a machine is a relaxed atomic one, its fences are inline assembly, exclusive accesses
//! too. The final condition is an assertion of `main`, after all threads have ended: it fails in the executions that the test
//! asks about.

use crate::c::{expression, extended};
use fencepost_ir::{
    Ann, Compare, Extend, Fence, Function, Instr, Label, Object, Observable, Operand, Order, Program,
    Property, Proposition, Quantifier, Reg, RmwOp, Role, Term, ThreadId, Value, Width,
};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What the program is written for, which says how its accesses are spelt in C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// C itself.
    C,
    /// x86: read-modify-writes are full fences.
    X86,
    /// POWER.
    Power,
    /// AArch64: `LDAR` is what a `seq_cst` load is compiled to, and `LDAPR` what an `acquire` one is, with the mapping `rcpc`.
    AArch64,
}

/// Prints a program; `about` is its first comment.
///
/// # Errors
/// What C has no words for, or none that are known here.
pub fn print_weak(program: &Program, origin: Origin, about: &str) -> Result<String, String> {
    let Property::Final(condition) = &program.property else {
        return Err("it has no final condition".into());
    };
    let printer = Printer { program, origin, atomic: atomic_objects(program, origin) };
    let mut out = format!("/* {} */\n", about.replace("*/", "* /"));
    out.push_str(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>\n\n",
    );
    for (index, object) in program.objects.iter().enumerate() {
        printer.declare(&mut out, index, object)?;
    }
    let finals: Vec<String> =
        condition.observed.iter().filter_map(|&seen| printer.final_name(seen)).collect();
    if !finals.is_empty() {
        let _ = writeln!(out, "uint64_t {};", finals.join(", "));
    }
    for index in 0..program.threads.len() {
        printer.thread(&mut out, ThreadId(index as u32), &condition.observed)?;
    }
    out.push_str("\nint main(void) {\n");
    let threads = program.threads.len();
    let _ = writeln!(out, "  pthread_t threads[{}];", threads.max(1));
    for index in 0..threads {
        let _ = writeln!(out, "  pthread_create(&threads[{index}], 0, P{index}, 0);");
    }
    for index in 0..threads {
        let _ = writeln!(out, "  pthread_join(threads[{index}], 0);");
    }
    if let Some(filter) = &condition.filter {
        let _ = writeln!(out, "  if (!({})) return 0;", printer.proposition(filter, &condition.observed));
    }
    let proposition = printer.proposition(&condition.proposition, &condition.observed);
    let _ = match condition.quantifier {
        Quantifier::ForAll => writeln!(out, "  assert({proposition});"),
        Quantifier::Exists | Quantifier::NotExists => writeln!(out, "  assert(!({proposition}));"),
    };
    out.push_str("}\n");
    Ok(out)
}

struct Printer<'p> {
    program: &'p Program,
    origin: Origin,
    /// Objects that some access is atomic to.
    atomic: BTreeSet<u32>,
}

/// On a machine all are; in C those that something else than a plain access goes to. One whose accesses go through computed
/// addresses may be.
fn atomic_objects(program: &Program, origin: Origin) -> BTreeSet<u32> {
    let all = 0..program.objects.len() as u32;
    if origin != Origin::C {
        return all.collect();
    }
    let mut found = BTreeSet::new();
    for thread in &program.threads {
        let function = &program.functions[thread.function.0 as usize];
        for instr in &function.body {
            let Some((addr, plain)) = accessed(instr) else { continue };
            match fixed(function, &thread.args, addr) {
                _ if plain => {}
                Some((object, _)) => found.extend([object]),
                None => return all.collect(),
            }
        }
    }
    found
}

/// The address of an access, and whether it is plain.
fn accessed(instr: &Instr) -> Option<(Operand, bool)> {
    match *instr {
        Instr::Load { addr, ann, .. } | Instr::Store { addr, ann, .. } => {
            Some((addr, ann.order == Order::Plain))
        }
        Instr::Rmw { addr, .. } | Instr::CompareExchange { addr, .. } => Some((addr, false)),
        _ => None,
    }
}

/// The object and offset of an address that is known: a constant, or a parameter that nobody assigns to.
fn fixed(function: &Function, args: &[Value], addr: Operand) -> Option<(u32, u32)> {
    let value = match addr {
        Operand::Const(value) => value,
        Operand::Reg(reg) => {
            let mut kept = true;
            function.body.iter().for_each(|instr| instr.for_each_definition(|other| kept &= other != reg));
            *args.get(reg.0 as usize).filter(|_| kept)?
        }
    };
    value.as_pointer().map(|(object, offset)| (object.0, offset))
}

impl Printer<'_> {
    fn declare(&self, out: &mut String, index: usize, object: &Object) -> Result<(), String> {
        let width = object.cells.first().map_or(Width::W32, |cell| cell.width);
        let bytes = width.bytes();
        let is_array = object
            .cells
            .iter()
            .enumerate()
            .all(|(i, cell)| cell.width == width && cell.offset == i as u32 * bytes);
        if !is_array || object.size != bytes * object.cells.len().max(1) as u32 {
            return Err(format!("`{}` is accessed with different sizes", object.name));
        }
        let ty = match self.atomic.contains(&(index as u32)) {
            true => format!("_Atomic {}", unsigned(width)),
            false => unsigned(width),
        };
        let init: Vec<String> =
            object.cells.iter().map(|cell| self.value(cell.init.unwrap_or(Value::ZERO))).collect();
        let name = &object.name;
        let _ = match init.as_slice() {
            [one] if one == "0" => writeln!(out, "{ty} {name};"),
            [one] => writeln!(out, "{ty} {name} = {one};"),
            all => writeln!(out, "{ty} {name}[{}] = {{{}}};", all.len(), all.join(", ")),
        };
        Ok(())
    }

    /// A constant, which may be an address.
    fn value(&self, value: Value) -> String {
        match value.as_pointer() {
            Some((object, offset)) if (object.0 as usize) < self.program.objects.len() => {
                let address = format!("(uint64_t)&{}", self.program.objects[object.0 as usize].name);
                if offset == 0 { address } else { format!("{address} + {offset}") }
            }
            _ if value.0 <= i32::MAX as u64 => value.0.to_string(),
            _ => format!("{}u", value.0),
        }
    }

    /// What a register is called at the end of its thread.
    fn final_name(&self, seen: Observable) -> Option<String> {
        let Observable::Register { thread, reg } = seen else { return None };
        let names = self.registers(thread);
        Some(format!("P{}_{}", thread.0, names[reg.0 as usize]))
    }

    /// The registers of a thread as C names: no two are the same, and none is that of a location.
    fn registers(&self, thread: ThreadId) -> Vec<String> {
        let function = self.program.thread_function(thread);
        let mut taken: BTreeSet<String> =
            self.program.objects.iter().map(|object| object.name.clone()).collect();
        let mut name = |reg: &String| {
            let clean: String =
                reg.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let begins = clean.starts_with(|c: char| c.is_ascii_digit()) || clean.is_empty();
            let mut name = if begins { format!("r{clean}") } else { clean };
            while KEYWORDS.contains(&name.as_str()) || !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        function.regs.iter().map(&mut name).collect()
    }

    fn thread(&self, out: &mut String, thread: ThreadId, observed: &[Observable]) -> Result<(), String> {
        let function = self.program.thread_function(thread);
        let body = Body {
            printer: self,
            function,
            args: &self.program.threads[thread.0 as usize].args,
            names: self.registers(thread),
        };
        let _ = writeln!(out, "\nvoid *P{}(void *unused) {{\n  (void)unused;", thread.0);
        let mut lines = String::new();
        let labels = labels(function);
        let last = function.body.len() as u32;
        for (at, instr) in (0u32..).zip(&function.body) {
            if labels.contains(&at) {
                let _ = writeln!(lines, "L{at}:;");
            }
            let text = body.statement(at, instr)?;
            if !text.is_empty() {
                let _ = writeln!(lines, "  {text}");
            }
        }
        if labels.contains(&last) {
            let _ = writeln!(lines, "L{last}:;");
        }
        for &seen in observed {
            if let Observable::Register { thread: owner, reg } = seen
                && owner == thread
                && let Some(name) = self.final_name(seen)
            {
                let _ = writeln!(lines, "  {name} = {};", body.names[reg.0 as usize]);
            }
        }
        let used = |name: &str| {
            lines.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
        };
        for (index, name) in body.names.iter().enumerate().filter(|(_, name)| used(name)) {
            let init = body.args.get(index).map_or("0".into(), |&value| self.value(value));
            let _ = writeln!(out, "  uint64_t {name} = {init};");
        }
        out.push_str(&lines);
        out.push_str("  return 0;\n}\n");
        Ok(())
    }

    fn proposition(&self, proposition: &Proposition, observed: &[Observable]) -> String {
        let all = |parts: &[Proposition], operator: &str| {
            let parts: Vec<String> = parts.iter().map(|part| self.proposition(part, observed)).collect();
            format!("({})", parts.join(operator))
        };
        match proposition {
            Proposition::True => "1".into(),
            Proposition::False => "0".into(),
            Proposition::And(parts) if parts.is_empty() => "1".into(),
            Proposition::Or(parts) if parts.is_empty() => "0".into(),
            Proposition::And(parts) => all(parts, " && "),
            Proposition::Or(parts) => all(parts, " || "),
            Proposition::Not(inner) => format!("!{}", self.proposition(inner, observed)),
            Proposition::Implies(a, b) => {
                format!("(!{} || {})", self.proposition(a, observed), self.proposition(b, observed))
            }
            Proposition::Atom(left, compare, right) => {
                let operator = match compare {
                    Compare::Eq => "==",
                    Compare::Ne => "!=",
                    Compare::Lt => "<",
                    Compare::Le => "<=",
                    Compare::Gt => ">",
                    Compare::Ge => ">=",
                };
                let right = match right {
                    Term::Value(value) if value.as_pointer().is_none() => format!("{}", value.as_i64()),
                    Term::Value(value) => format!("(int64_t)({})", self.value(*value)),
                    Term::Observed(index) => self.seen(observed[*index]),
                };
                format!("({} {operator} {right})", self.seen(observed[*left]))
            }
        }
    }

    fn seen(&self, seen: Observable) -> String {
        match seen {
            Observable::Register { .. } => format!("(int64_t){}", self.final_name(seen).unwrap_or_default()),
            Observable::Memory { object, offset, width } => {
                let cell = self.cell(object.0, offset, width);
                format!("(int64_t)(int{}_t){cell}", width.bits())
            }
        }
    }

    /// A cell that is known.
    fn cell(&self, object: u32, offset: u32, width: Width) -> String {
        let object = &self.program.objects[object as usize];
        match object.cells.len() {
            0 | 1 => object.name.clone(),
            _ => format!("{}[{}]", object.name, offset / width.bytes()),
        }
    }
}

/// Words that no register may be called.
const KEYWORDS: [&str; 12] =
    ["auto", "break", "case", "do", "else", "for", "goto", "if", "int", "main", "unused", "while"];

fn unsigned(width: Width) -> String {
    format!("uint{}_t", width.bits())
}

fn labels(function: &Function) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for (at, instr) in (0u32..).zip(&function.body) {
        match instr {
            Instr::Jump(to) if to.0 != at + 1 => found.extend([to.0]),
            Instr::Branch { then_to, else_to, .. } => {
                found.extend((then_to.0 != at + 1 || else_to.0 == at + 1).then_some(then_to.0));
                found.extend((else_to.0 != at + 1).then_some(else_to.0));
            }
            _ => {}
        }
    }
    found
}

struct Body<'p> {
    printer: &'p Printer<'p>,
    function: &'p Function,
    args: &'p [Value],
    names: Vec<String>,
}

impl Body<'_> {
    fn register(&self, reg: Reg) -> &str {
        &self.names[reg.0 as usize]
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Reg(reg) => self.register(*reg).to_owned(),
            Operand::Const(value) => self.printer.value(*value),
        }
    }

    /// The lvalue of an access, atomic or plain.
    fn place(&self, addr: Operand, width: Width, is_atomic: bool) -> String {
        let ty = unsigned(width);
        let known = fixed(self.function, self.args, addr)
            .filter(|(object, _)| (*object as usize) < self.printer.program.objects.len());
        match known {
            Some((object, offset)) => {
                let cell = self.printer.cell(object, offset, width);
                match self.printer.atomic.contains(&object) == is_atomic {
                    true => cell,
                    false => format!("*({ty} *)&{cell}"),
                }
            }
            None if is_atomic => format!("*(_Atomic {ty} *){}", self.operand(&addr)),
            None => format!("*({ty} *){}", self.operand(&addr)),
        }
    }

    fn set(&self, dst: Option<Reg>, width: Width, extend: Extend, text: &str) -> String {
        match dst {
            Some(dst) => format!("{} = {};", self.register(dst), extended(width, extend, text)),
            None => format!("(void){text};"),
        }
    }

    fn statement(&self, at: u32, instr: &Instr) -> Result<String, String> {
        let origin = self.printer.origin;
        Ok(match instr {
            Instr::Assign { dst, value } => {
                format!("{} = {};", self.register(*dst), expression(value, &|operand| self.operand(operand))?)
            }
            Instr::Load { dst, addr, width, extend, ann } => {
                known(ann)?;
                match word(ann.order, origin)? {
                    _ if ann.exclusive => self.load_exclusive(*dst, *addr, (*width, *extend), ann)?,
                    None => self.set(Some(*dst), *width, *extend, &self.place(*addr, *width, false)),
                    Some(order) => {
                        let place = self.place(*addr, *width, true);
                        let text = format!("atomic_load_explicit(&{place}, {order})");
                        self.set(Some(*dst), *width, *extend, &text)
                    }
                }
            }
            Instr::Store { addr, value, width, ann } => {
                known(ann)?;
                let value = self.operand(value);
                match word(ann.order, origin)? {
                    None => format!("{} = {value};", self.place(*addr, *width, false)),
                    Some(order) => {
                        format!(
                            "atomic_store_explicit(&{}, {value}, {order});",
                            self.place(*addr, *width, true)
                        )
                    }
                }
            }
            Instr::StoreExclusive { status, success, addr, value, width, ann } => {
                known(ann)?;
                self.store_exclusive(*status, *success, (*addr, *width), *value, ann)?
            }
            Instr::Rmw { dst, addr, width, extend, op, operand, read, write } => {
                known(read)?;
                known(write)?;
                let order = both(read.order, write.order, origin)?;
                let (name, value) = match op {
                    RmwOp::Exchange => ("exchange", self.operand(operand)),
                    RmwOp::Add => ("fetch_add", self.operand(operand)),
                    RmwOp::Sub => ("fetch_sub", self.operand(operand)),
                    RmwOp::And => ("fetch_and", self.operand(operand)),
                    RmwOp::Or => ("fetch_or", self.operand(operand)),
                    RmwOp::Xor => ("fetch_xor", self.operand(operand)),
                    RmwOp::Clear => ("fetch_and", format!("~{}", self.operand(operand))),
                    RmwOp::Nand | RmwOp::MaxS | RmwOp::MinS | RmwOp::MaxU | RmwOp::MinU => {
                        return Err("C has no such read-modify-write".into());
                    }
                };
                let text =
                    format!("atomic_{name}_explicit(&{}, {value}, {order})", self.place(*addr, *width, true));
                self.set(*dst, *width, *extend, &text)
            }
            Instr::CompareExchange {
                dst,
                success,
                addr,
                width,
                extend,
                expected,
                desired,
                read,
                write,
                failure,
                weak,
            } => {
                known(read)?;
                known(write)?;
                let order = both(read.order, write.order, origin)?;
                let failed = word(failure.order, origin)?.unwrap_or("memory_order_relaxed");
                let failed = if origin == Origin::X86 { "memory_order_seq_cst" } else { failed };
                let strength = if *weak { "weak" } else { "strong" };
                let mut text = format!(
                    "{{ {ty} seen = {}; _Bool done = atomic_compare_exchange_{strength}_explicit(&{}, &seen, {}, \
                        {order}, {failed}); (void)done;",
                    self.operand(expected),
                    self.place(*addr, *width, true),
                    self.operand(desired),
                    ty = unsigned(*width),
                );
                if let Some(dst) = dst {
                    let _ = write!(text, " {} = {};", self.register(*dst), extended(*width, *extend, "seen"));
                }
                if let Some(success) = success {
                    let _ = write!(text, " {} = done;", self.register(*success));
                }
                text + " }"
            }
            Instr::Fence(fence) => self::fence(*fence)?,
            Instr::Jump(to) if to.0 == at + 1 => String::new(),
            Instr::Jump(to) => format!("goto L{};", to.0),
            // A branch that leads on in any case is a dependency as long as compilers have a reason to keep it.
            Instr::Branch { condition, then_to, else_to }
                if else_to.0 == at + 1 && self.leads_on(at, *then_to) =>
            {
                let nothing = "__asm__ volatile(\"\" : : : \"memory\");";
                format!("if ({}) {{ {nothing} goto L{}; }}", self.operand(condition), then_to.0)
            }
            Instr::Branch { condition, then_to, else_to } if then_to.0 == at + 1 => {
                format!("if (!{}) goto L{};", self.operand(condition), else_to.0)
            }
            Instr::Branch { condition, then_to, else_to } => {
                let mut text = format!("if ({}) goto L{};", self.operand(condition), then_to.0);
                if else_to.0 != at + 1 {
                    let _ = write!(text, " else goto L{};", else_to.0);
                }
                text
            }
            Instr::Assume(condition) => format!("__VERIFIER_assume({} != 0);", self.operand(condition)),
            Instr::Return(None) => format!("goto L{};", self.function.body.len()),
            _ => return Err("an instruction that is not said in C".into()),
        })
    }

    /// Whether nothing but jumps stands between a branch and its target.
    fn leads_on(&self, at: u32, to: Label) -> bool {
        let between = self.function.body.get(at as usize + 1..to.0 as usize);
        between
            .is_some_and(|all| all.iter().all(|instr| matches!(instr, Instr::Jump(label) if label.0 <= to.0)))
    }

    fn load_exclusive(
        &self,
        dst: Reg,
        addr: Operand,
        (width, extend): (Width, Extend),
        ann: &Ann,
    ) -> Result<String, String> {
        let place = self.place(addr, width, true);
        let text = match self.printer.origin {
            Origin::AArch64 => {
                let acquires = if ann.order == Order::Plain { "" } else { "a" };
                let (suffix, letter) = arm_size(width);
                format!(
                    "__asm__ volatile(\"ld{acquires}xr{suffix} %{letter}0, %1\" : \"=r\"(v) : \"Q\"({place}) : \"memory\");"
                )
            }
            Origin::Power => {
                let letter = power_size(width);
                format!(
                    "__asm__ volatile(\"l{letter}arx %0, 0, %1\" : \"=r\"(v) : \"r\"(&{place}) : \"memory\");"
                )
            }
            Origin::C | Origin::X86 => return Err("a reservation".into()),
        };
        Ok(format!(
            "{{ {} v; {text} {} = {}; }}",
            unsigned(width),
            self.register(dst),
            extended(width, extend, "v")
        ))
    }

    fn store_exclusive(
        &self,
        status: Reg,
        success: u8,
        (addr, width): (Operand, Width),
        value: Operand,
        ann: &Ann,
    ) -> Result<String, String> {
        let (place, value) = (self.place(addr, width, true), self.operand(&value));
        let text = match (self.printer.origin, success) {
            (Origin::AArch64, 0) => {
                let releases = if ann.order == Order::Plain { "" } else { "l" };
                let (suffix, letter) = arm_size(width);
                format!(
                    "__asm__ volatile(\"st{releases}xr{suffix} %w0, %{letter}2, %1\" : \"=&r\"(s), \"=Q\"({place}) \
                        : \"r\"(v) : \"memory\");"
                )
            }
            (Origin::Power, 1) => {
                let letter = power_size(width);
                format!(
                    "__asm__ volatile(\"li %0, 0\\n\\tst{letter}cx. %2, 0, %1\\n\\tbne 1f\\n\\tli %0, 1\\n1:\" \
                        : \"=&r\"(s) : \"r\"(&{place}), \"r\"(v) : \"memory\", \"cc\");"
                )
            }
            _ => return Err("a store to a reservation".into()),
        };
        Ok(format!(
            "{{ {} v = {value}; uint32_t s; {text} {} = s; }}",
            unsigned(width),
            self.register(status)
        ))
    }
}

fn arm_size(width: Width) -> (&'static str, char) {
    match width {
        Width::W8 => ("b", 'w'),
        Width::W16 => ("h", 'w'),
        Width::W32 => ("", 'w'),
        Width::W64 | Width::W128 => ("", 'x'),
    }
}

fn power_size(width: Width) -> char {
    match width {
        Width::W8 => 'b',
        Width::W16 => 'h',
        Width::W32 => 'w',
        Width::W64 | Width::W128 => 'd',
    }
}

/// Annotations that C can say.
fn known(ann: &Ann) -> Result<(), String> {
    match ann {
        Ann { role: Role::None, non_temporal: false, .. } => Ok(()),
        Ann { role: Role::Continues, .. } => Err("an access in parts".into()),
        Ann { non_temporal: true, .. } => Err("a load that is not temporal".into()),
        Ann { .. } => Err("what only the Linux kernel has".into()),
    }
}

/// The memory order of an access; none for what is plain in C.
fn word(order: Order, origin: Origin) -> Result<Option<&'static str>, String> {
    Ok(Some(match (order, origin) {
        (Order::Plain, Origin::C) => return Ok(None),
        (Order::Plain | Order::Relaxed, _) => "memory_order_relaxed",
        (Order::Consume, _) => "memory_order_consume",
        (Order::AcquirePc, _) => "memory_order_acquire",
        (Order::Acquire, Origin::AArch64) => "memory_order_seq_cst",
        (Order::Acquire, _) => "memory_order_acquire",
        (Order::Release, _) => "memory_order_release",
        (Order::AcqRel, _) => "memory_order_acq_rel",
        (Order::SeqCst, _) => "memory_order_seq_cst",
    }))
}

/// The memory order of a read-modify-write.
fn both(read: Order, write: Order, origin: Origin) -> Result<&'static str, String> {
    if origin == Origin::X86 || read == Order::SeqCst || write == Order::SeqCst {
        return Ok("memory_order_seq_cst");
    }
    Ok(match (read, write) {
        (Order::Acquire | Order::AcqRel, Order::Release | Order::AcqRel) => "memory_order_acq_rel",
        (Order::Acquire | Order::AcqRel, _) => "memory_order_acquire",
        (_, Order::Release | Order::AcqRel) => "memory_order_release",
        (Order::Consume, _) => "memory_order_consume",
        (Order::AcquirePc, _) => return Err("a read-modify-write that acquires as LDAPR does".into()),
        _ => "memory_order_relaxed",
    })
}

fn fence(fence: Fence) -> Result<String, String> {
    let instruction = match fence {
        Fence::Compiler => return Ok(String::new()),
        Fence::C11(order) => {
            let order = word(order, Origin::Power)?.unwrap_or("memory_order_relaxed");
            return Ok(format!("atomic_thread_fence({order});"));
        }
        fence if !fence.row().text.is_empty() => fence.row().text,
        _ => return Err(format!("the fence {}", fence.name())),
    };
    Ok(format!("__asm__ volatile(\"{instruction}\" : : : \"memory\");"))
}
