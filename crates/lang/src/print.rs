//! Programs of the IR as `.fp` text: one statement per instruction, labels where something jumps.

use crate::words::{BINARY, Parts, RMW, SIGNS, UNARY, WIDTHS, word};
use fencepost_ir::{
    Ann, Callee, Compare, Extend, Function, Instr, Label, Object, Observable, Operand, Program, Property,
    Proposition, Quantifier, Reg, Rvalue, Term, Value, Width,
};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of a program; an error names the first thing that the language has no words for.
pub fn print(program: &Program) -> Result<String, String> {
    let program = &told_apart(program);
    let mut out = String::new();
    if !program.name.is_empty() {
        let _ = writeln!(out, "program {};", quoted(&program.name));
    }
    let printer = Printer { program };
    for object in &program.objects {
        printer.object(&mut out, object)?;
    }
    for function in &program.functions {
        printer.function(&mut out, function)?;
    }
    printer.start(&mut out)?;
    printer.property(&mut out)?;
    Ok(out)
}

/// The program with registers that share a name told apart: to the IR a register is its number, to the language its name.
fn told_apart(program: &Program) -> Program {
    let mut program = program.clone();
    for function in &mut program.functions {
        let mut taken: BTreeSet<String> = function.regs.iter().cloned().collect();
        let mut seen = BTreeSet::new();
        for (number, name) in function.regs.iter_mut().enumerate() {
            if seen.insert(name.clone()) {
                continue;
            }
            let mut other = format!("{name}_{number}");
            while !taken.insert(other.clone()) {
                other.push('_');
            }
            *name = other;
        }
    }
    program
}

struct Printer<'p> {
    program: &'p Program,
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out + "\""
}

impl Printer<'_> {
    fn object(&self, out: &mut String, object: &Object) -> Result<(), String> {
        let Some(first) = object.cells.first() else { return Err(format!("`{}` has no cells", object.name)) };
        let width = first.width;
        let even = (0u32..)
            .zip(&object.cells)
            .all(|(i, cell)| cell.width == width && cell.offset == i * width.bytes());
        if !even || object.size != width.bytes() * object.cells.len() as u32 {
            return Err(format!("the cells of `{}` are not those of an array", object.name));
        }
        let _ = write!(out, "shared {}", object.name);
        if object.cells.len() > 1 {
            let _ = write!(out, "[{}]", object.cells.len());
        }
        if width != Width::W32 {
            let _ = write!(out, ": {}", word(&WIDTHS, &width));
        }
        let show = |init: Option<Value>| init.map_or("?".to_owned(), |value| self.value(value));
        let same = object.cells.iter().all(|cell| cell.init == first.init);
        if same {
            let _ = write!(out, " = {}", show(first.init));
        } else {
            let values: Vec<String> = object.cells.iter().map(|cell| show(cell.init)).collect();
            let _ = write!(out, " = {{{}}}", values.join(", "));
        }
        out.push_str(";\n");
        Ok(())
    }

    fn value(&self, value: Value) -> String {
        let Some((object, offset)) = value.as_pointer() else { return value.as_i64().to_string() };
        match self.program.objects.get(object.0 as usize) {
            Some(object) => match object.cells.iter().position(|cell| cell.offset == offset) {
                Some(0) => format!("&{}", object.name),
                Some(index) => format!("&{}[{index}]", object.name),
                None => value.0.to_string(),
            },
            None => value.0.to_string(),
        }
    }

    fn function(&self, out: &mut String, function: &Function) -> Result<(), String> {
        let (params, others) = function.regs.split_at(function.params as usize);
        let _ = writeln!(out, "\nprocedure {}({}) {{", function.name, params.join(", "));
        for chunk in others.chunks(12) {
            let _ = writeln!(out, "  reg {};", chunk.join(", "));
        }
        let mut targets = vec![false; function.body.len() + 1];
        for instr in &function.body {
            match instr {
                Instr::Jump(to) => targets[to.0 as usize] = true,
                Instr::Branch { then_to, else_to, .. } => {
                    targets[then_to.0 as usize] = true;
                    targets[else_to.0 as usize] = true;
                }
                _ => {}
            }
        }
        for (at, instr) in function.body.iter().enumerate() {
            if targets[at] {
                let _ = writeln!(out, "{}:", label(Label(at as u32)));
            }
            let text = Line { printer: self, function }.show(instr)?;
            let _ = writeln!(out, "  {text};");
        }
        if targets[function.body.len()] {
            let _ = writeln!(out, "{}:", label(Label(function.body.len() as u32)));
        }
        out.push_str("}\n");
        Ok(())
    }

    fn start(&self, out: &mut String) -> Result<(), String> {
        let show = |thread: &fencepost_ir::Thread| {
            let name = &self.program.functions[thread.function.0 as usize].name;
            let args: Vec<String> = thread.args.iter().map(|&arg| self.value(arg)).collect();
            format!("{name}({}) as {}", args.join(", "), quoted(&thread.name))
        };
        let threads: Vec<String> = self.program.threads.iter().map(show).collect();
        let _ = writeln!(out, "\nstart {};", threads.join(", "));
        Ok(())
    }

    fn property(&self, out: &mut String) -> Result<(), String> {
        let Property::Final(condition) = &self.program.property else { return Ok(()) };
        let names: Vec<String> =
            condition.observed.iter().map(|part| self.observable(part)).collect::<Result<_, _>>()?;
        if condition.shown > 0 {
            let _ = writeln!(out, "observe {};", names[..condition.shown].join(", "));
        }
        let quantifier = match condition.quantifier {
            Quantifier::Exists => "exists",
            Quantifier::ForAll => "forall",
            Quantifier::NotExists => "never",
        };
        let _ = writeln!(out, "{quantifier} {};", self.proposition(&names, &condition.proposition));
        if let Some(filter) = &condition.filter {
            let _ = writeln!(out, "filter {};", self.proposition(&names, filter));
        }
        Ok(())
    }

    fn observable(&self, observable: &Observable) -> Result<String, String> {
        match *observable {
            Observable::Register { thread, reg } => {
                let name = &self.program.threads[thread.0 as usize].name;
                let regs = &self.program.thread_function(thread).regs;
                Ok(format!("{name}.{}", regs[reg.0 as usize]))
            }
            Observable::Memory { object, offset, .. } => {
                let shown = self.value(Value::pointer(object, offset));
                shown
                    .strip_prefix('&')
                    .map(str::to_owned)
                    .ok_or_else(|| "a final condition on no cell".into())
            }
        }
    }

    fn proposition(&self, names: &[String], proposition: &Proposition) -> String {
        let inner = |p: &Proposition| self.proposition(names, p);
        let list = |parts: &[Proposition], sign: &str, empty: &str| match parts {
            [] => empty.to_owned(),
            parts => format!("({})", parts.iter().map(inner).collect::<Vec<_>>().join(sign)),
        };
        match proposition {
            Proposition::True => "true".into(),
            Proposition::False => "false".into(),
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
                    Term::Value(value) => self.value(*value),
                    Term::Observed(index) => names[*index].clone(),
                };
                format!("{} {sign} {right}", names[*left])
            }
            Proposition::Not(p) => format!("!({})", inner(p)),
            Proposition::And(parts) => list(parts, " && ", "true"),
            Proposition::Or(parts) => list(parts, " || ", "false"),
            Proposition::Implies(a, b) => format!("(({}) => ({}))", inner(a), inner(b)),
        }
    }
}

fn label(label: Label) -> String {
    format!("L{}", label.0)
}

/// Prints one instruction.
struct Line<'p> {
    printer: &'p Printer<'p>,
    function: &'p Function,
}

impl Line<'_> {
    fn reg(&self, reg: Reg) -> &str {
        &self.function.regs[reg.0 as usize]
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(reg) => self.reg(reg).to_owned(),
            Operand::Const(value) => self.printer.value(value),
        }
    }

    fn result(&self, dst: Option<Reg>) -> String {
        dst.map_or(String::new(), |dst| format!("{} := ", self.reg(dst)))
    }

    /// The name of a cell that is accessed as it was declared: `x` or `a[1]`.
    fn variable(&self, addr: Operand, width: Width) -> Option<String> {
        let Operand::Const(value) = addr else { return None };
        let (object, offset) = value.as_pointer()?;
        let object = self.printer.program.objects.get(object.0 as usize)?;
        let cell = object.cells.iter().find(|cell| cell.offset == offset)?;
        let shown = self.printer.value(value);
        (cell.width == width).then(|| shown.trim_start_matches('&').to_owned())
    }

    fn show(&self, instr: &Instr) -> Result<String, String> {
        let operand = |operand: &Operand| self.operand(*operand);
        let call = |word: &str, dst: &Option<Reg>, callee: &Callee, args: &[Operand]| {
            let args: Vec<String> = args.iter().map(operand).collect();
            let callee = match callee {
                Callee::Function(f) => self.printer.program.functions[f.0 as usize].name.clone(),
                Callee::Pointer(pointer) => format!("[{}]", self.operand(*pointer)),
            };
            format!("{}{word} {callee}({})", self.result(*dst), args.join(", "))
        };
        Ok(match instr {
            Instr::Assign { dst, value } => format!("{} := {}", self.reg(*dst), self.rvalue(value)),
            Instr::Load { dst, addr, width, extend, ann } => {
                let dst = self.reg(*dst);
                match self.variable(*addr, *width) {
                    Some(name) if *extend == Extend::Sign && *ann == Ann::PLAIN => format!("{dst} := {name}"),
                    _ => {
                        let parts = Parts::show(*width, *extend) + &Parts::show_ann(*ann);
                        format!("{dst} := load{parts}({})", operand(addr))
                    }
                }
            }
            Instr::Store { addr, value, width, ann } => match self.variable(*addr, *width) {
                Some(name) if *ann == Ann::PLAIN => format!("{name} := {}", operand(value)),
                _ => {
                    let parts = Parts::show(*width, Extend::Sign) + &Parts::show_ann(*ann);
                    format!("store{parts}({}, {})", operand(addr), operand(value))
                }
            },
            Instr::Rmw { dst, addr, width, extend, op, operand: value, read, write } => {
                let anns = Parts::show_ann(*read) + &Parts::show_ann(*write);
                let parts = format!(".{}{}{anns}", word(&RMW, op), Parts::show(*width, *extend));
                format!("{}rmw{parts}({}, {})", self.result(*dst), operand(addr), operand(value))
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
                let anns: String = [read, write, failure].map(|ann| Parts::show_ann(*ann)).concat();
                let weak = if *weak { ".weak" } else { "" };
                let reg = |reg: &Option<Reg>| reg.map_or("_".to_owned(), |reg| self.reg(reg).to_owned());
                let parts = Parts::show(*width, *extend);
                format!(
                    "cmpxchg{parts}{anns}{weak}({}, {}, {}, {}, {})",
                    reg(dst),
                    reg(success),
                    operand(addr),
                    operand(expected),
                    operand(desired)
                )
            }
            Instr::Fence(fence) => format!("fence {}", fence.name()),
            Instr::Jump(to) => format!("goto {}", label(*to)),
            Instr::Branch { condition, then_to, else_to } => {
                format!("branch {}, {}, {}", operand(condition), label(*then_to), label(*else_to))
            }
            Instr::Call { dst, callee, args } => call("call", dst, callee, args),
            Instr::Spawn { dst, callee, args } => call("spawn", dst, callee, args),
            Instr::Return(None) => "return".into(),
            Instr::Return(Some(value)) => format!("return {}", operand(value)),
            Instr::Join { thread, dst } => format!("{}join {}", self.result(*dst), operand(thread)),
            Instr::Lock(addr) => format!("lock([{}])", operand(addr)),
            Instr::Unlock(addr) => format!("unlock([{}])", operand(addr)),
            Instr::Assume(condition) => format!("assume {}", operand(condition)),
            Instr::Round(_) => "// a round of a loop that waits".into(),
            Instr::Assert { condition, message, .. } if message.is_empty() => {
                format!("assert {}", operand(condition))
            }
            Instr::Assert { condition, message, .. } => {
                format!("assert {}, {}", operand(condition), quoted(message))
            }
            Instr::Nondet { dst, first, last } => format!("{} := nondet({first}, {last})", self.reg(*dst)),
            Instr::Cut => "cut".into(),
            Instr::AtomicBegin => "atomic_begin".into(),
            Instr::AtomicEnd => "atomic_end".into(),
            Instr::StoreExclusive { .. } | Instr::Alloc { .. } | Instr::Free(_) => {
                return Err("a store-exclusive or an allocation".into());
            }
            #[allow(unreachable_patterns)]
            _ => return Err("an instruction of C".into()),
        })
    }

    fn rvalue(&self, value: &Rvalue) -> String {
        let operand = |operand: &Operand| self.operand(*operand);
        match value {
            Rvalue::Use(a) => operand(a),
            Rvalue::Unary(op, width, extend, a) => {
                format!("{}{}({})", word(&UNARY, op), Parts::show(*width, *extend), operand(a))
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                let sign = SIGNS.iter().find(|(_, known, _)| known == op);
                match sign {
                    Some((sign, _, _)) if *width == Width::W32 && *extend == Extend::Sign => {
                        format!("{} {sign} {}", operand(a), operand(b))
                    }
                    _ => {
                        let parts = Parts::show(*width, *extend);
                        format!("{}{parts}({}, {})", word(&BINARY, op), operand(a), operand(b))
                    }
                }
            }
            Rvalue::Select(c, a, b) => format!("{} ? {} : {}", operand(c), operand(a), operand(b)),
        }
    }
}
