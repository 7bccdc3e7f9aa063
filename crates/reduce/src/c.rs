//! A plain SC program as C with pthreads, for outside tools that check C under SC.
//!
//! Registers are `uint64_t`, objects are arrays, addresses that are computed keep the encoding of [`Value`] and are
//! decoded by `at8` to `at64`. Choices, assumptions and atomic sections are the `__VERIFIER_` functions that such tools
//! agree on. Fences are left out: under SC they do nothing.

use fencepost_ir::{
    BinaryOp, Callee, Cell, Extend, Function, Instr, Object, Operand, Program, Property, Reg, RmwOp, Rvalue,
    UnaryOp, Value, Width,
};
use std::fmt::Write;

const HEAD: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int condition);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

";

/// Room for threads that the program starts itself, beside those that run from the start.
const SPAWNED: usize = 16;

/// True if the program starts threads itself.
fn spawns(program: &Program) -> bool {
    program.functions.iter().flat_map(|f| &f.body).any(|instr| matches!(instr, Instr::Spawn { .. }))
}

/// Threads and their arguments stand in arrays of just the size that is needed: tools that keep states keep these too.
fn print_threads(out: &mut String, program: &Program) {
    let from_start = program.threads.len();
    let _ = writeln!(
        out,
        "pthread_t threads[{}];",
        from_start.max(1) + if spawns(program) { SPAWNED } else { 0 }
    );
    if spawns(program) {
        let most = program.functions.iter().map(|f| f.params).max().unwrap_or(0).max(1);
        let _ = writeln!(
            out,
            "unsigned started = {from_start};\nuint64_t arguments[{}][{most}];",
            from_start + SPAWNED
        );
    }
    out.push('\n');
}

/// The text; an error names the first thing that cannot be said in C here.
pub fn print_c(program: &Program) -> Result<String, String> {
    if let Property::Final(_) = program.property {
        return Err("a final condition: say it as an assertion".into());
    }
    let mut out = format!("/* {} */\n{HEAD}\n", program.name.replace("*/", "* /"));
    print_threads(&mut out, program);
    for (i, object) in program.objects.iter().enumerate() {
        print_object(&mut out, program, i, object)?;
    }
    for width in Width::ALL {
        print_decoder(&mut out, program, width);
    }
    for (i, function) in program.functions.iter().enumerate() {
        let _ = writeln!(out, "{};", head(i, function));
    }
    for (i, function) in program.functions.iter().enumerate() {
        print_function(&mut out, program, i, function)?;
        if spawns(program) {
            print_trampoline(&mut out, i, function);
        }
    }
    print_main(&mut out, program);
    Ok(out)
}

/// Names that C accepts, told apart by number.
pub(crate) fn name(kind: &str, index: usize, name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("{kind}{index}_{clean}")
}

pub(crate) fn object_name(objects: &[Object], index: usize) -> String {
    name("g", index, &objects[index].name)
}

pub(crate) fn bits(width: Width) -> u32 {
    width.bits()
}

/// Cells of an object that make an array: of one width, one after the other.
pub(crate) struct Run<'p> {
    pub name: String,
    pub width: Width,
    pub cells: &'p [Cell],
}

impl Run<'_> {
    pub fn start(&self) -> u32 {
        self.cells[0].offset
    }
}

/// An object as arrays; most objects are one.
pub(crate) fn runs(objects: &[Object], index: usize) -> Vec<Run<'_>> {
    let cells = &objects[index].cells;
    let follows = |a: &Cell, b: &Cell| a.width == b.width && a.offset + a.width.bytes() == b.offset;
    let groups = cells.chunk_by(follows).enumerate();
    let name = |i: usize| match i {
        0 => object_name(objects, index),
        _ => format!("{}_{i}", object_name(objects, index)),
    };
    groups.map(|(i, cells)| Run { name: name(i), width: cells[0].width, cells }).collect()
}

fn print_object(out: &mut String, program: &Program, index: usize, object: &Object) -> Result<(), String> {
    if object.cells.is_empty() {
        return Err(format!("`{}` has no cells", object.name));
    }
    for run in runs(&program.objects, index) {
        let mut values = Vec::new();
        for cell in run.cells {
            let value = cell.init.ok_or_else(|| format!("`{}`, which is not initialised", object.name))?;
            values.push(format!("(int{}_t){}", bits(run.width), literal(value)));
        }
        let all_zero = run.cells.iter().all(|cell| cell.init == Some(Value::ZERO));
        let init = if all_zero { "{0}".to_owned() } else { format!("{{{}}}", values.join(", ")) };
        let _ = writeln!(out, "int{}_t {}[{}] = {init};", bits(run.width), run.name, run.cells.len());
    }
    Ok(())
}

/// The cell at a computed address of a width.
fn print_decoder(out: &mut String, program: &Program, width: Width) {
    let (bits, bytes) = (bits(width), width.bytes());
    let _ = writeln!(out, "\nint{bits}_t *at{bits}(uint64_t address) {{");
    let _ = writeln!(out, "  uint64_t o = address & 0xffffffffu;\n  assert(o % {bytes} == 0);");
    let _ = writeln!(out, "  switch (address >> 32) {{");
    for o in 0..program.objects.len() {
        let tag = Value::pointer(fencepost_ir::ObjectId(o as u32), 0).0 >> 32;
        let mut ways = String::new();
        for run in runs(&program.objects, o).iter().filter(|run| run.width == width) {
            let (start, length) = (run.start(), run.cells.len() as u32 * bytes);
            let _ = match start {
                0 => write!(ways, " if (o < {length}) return &{}[o / {bytes}];", run.name),
                _ => write!(
                    ways,
                    " if (o >= {start} && o < {}) return &{}[(o - {start}) / {bytes}];",
                    start + length,
                    run.name
                ),
            };
        }
        if !ways.is_empty() {
            let _ = writeln!(out, "  case {tag}u:{ways} break;");
        }
    }
    let _ = writeln!(out, "  default: break;\n  }}\n  assert(0);\n  return 0;\n}}");
}

fn head(index: usize, function: &Function) -> String {
    let params: Vec<String> = (0..function.params).map(|i| format!("uint64_t r{i}")).collect();
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    format!("uint64_t {}({params})", name("f", index, &function.name))
}

fn print_function(
    out: &mut String,
    program: &Program,
    index: usize,
    function: &Function,
) -> Result<(), String> {
    let _ = writeln!(out, "\n{} {{", head(index, function));
    for (i, reg) in function.regs.iter().enumerate() {
        let reg = reg.replace("*/", "* /");
        if i >= function.params as usize {
            let _ = writeln!(out, "  uint64_t r{i} = 0; /* {reg} */");
        }
        let _ = writeln!(out, "  (void)r{i};");
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
            let _ = writeln!(out, "L{at}:;");
        }
        let _ = writeln!(out, "  {}", statement(program, instr)?);
    }
    if targets[function.body.len()] {
        let _ = writeln!(out, "L{}:;", function.body.len());
    }
    out.push_str("  return 0;\n}\n");
    Ok(())
}

/// Lets pthreads run a function.
fn print_trampoline(out: &mut String, index: usize, function: &Function) {
    let args: Vec<String> = (0..function.params).map(|i| format!("args[{i}]")).collect();
    let name = name("f", index, &function.name);
    let _ = writeln!(out, "\nvoid *run_{name}(void *given) {{\n  uint64_t *args = given;\n  (void)args;");
    let _ = writeln!(out, "  uint64_t result = {name}({});", args.join(", "));
    let _ = writeln!(out, "  return (void *)(uintptr_t)result;\n}}");
}

/// Starts a thread: takes a number for it, which nobody else gets, and puts its arguments there. A row of a static
/// array, not an allocation: nothing else in these programs needs one.
fn start(program: &Program, function: u32, args: &[String], dst: Option<Reg>) -> String {
    let callee = &program.functions[function as usize];
    let mut text = "{ unsigned n = __atomic_fetch_add(&started, 1u, __ATOMIC_SEQ_CST);".to_string();
    let _ = write!(text, " assert(n < {});", program.threads.len() + SPAWNED);
    for (i, arg) in args.iter().enumerate() {
        let _ = write!(text, " arguments[n][{i}] = {arg};");
    }
    let name = name("f", function as usize, &callee.name);
    let _ = write!(text, " pthread_create(&threads[n], 0, run_{name}, arguments[n]);");
    if let Some(dst) = dst {
        let _ = write!(text, " r{} = n;", dst.0);
    }
    text + " }"
}

/// The threads that run from the start have functions of their own, with nothing to read before they begin.
fn print_main(out: &mut String, program: &Program) {
    for (i, thread) in program.threads.iter().enumerate() {
        let function = &program.functions[thread.function.0 as usize];
        let mut args: Vec<String> = thread.args.iter().map(|&arg| literal(arg)).collect();
        args.resize(function.params as usize, "0".into());
        let name = name("f", thread.function.0 as usize, &function.name);
        let _ = writeln!(out, "\nvoid *start_{i}(void *given) {{\n  (void)given;");
        let _ = writeln!(out, "  return (void *)(uintptr_t){name}({});\n}}", args.join(", "));
    }
    out.push_str("\nint main(void) {\n");
    for i in 0..program.threads.len() {
        let _ = writeln!(out, "  pthread_create(&threads[{i}], 0, start_{i}, 0);");
    }
    for i in 0..program.threads.len() {
        let _ = writeln!(out, "  pthread_join(threads[{i}], 0);");
    }
    out.push_str("  return 0;\n}\n");
}

pub(crate) fn literal(value: Value) -> String {
    format!("{}u", value.0) + if value.0 > u64::from(u32::MAX) { "ll" } else { "" }
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Reg(reg) => format!("r{}", reg.0),
        Operand::Const(value) => literal(*value),
    }
}

/// The C lvalue of a cell.
fn place(program: &Program, addr: &Operand, width: Width) -> String {
    if let Operand::Const(value) = addr
        && let Some((object, offset)) = value.as_pointer()
        && (object.0 as usize) < program.objects.len()
    {
        for run in runs(&program.objects, object.0 as usize) {
            if let Some(index) = run.cells.iter().position(|c| c.offset == offset && c.width == width) {
                return format!("{}[{index}]", run.name);
            }
        }
    }
    format!("*at{}({})", bits(width), operand(addr))
}

pub(crate) fn unsigned(width: Width, text: &str) -> String {
    format!("(uint64_t)(uint{}_t)({text})", bits(width))
}

pub(crate) fn signed(width: Width, text: &str) -> String {
    format!("(int64_t)(int{}_t)({text})", bits(width))
}

pub(crate) fn extended(width: Width, extend: Extend, text: &str) -> String {
    match extend {
        Extend::Zero => unsigned(width, text),
        Extend::Sign => format!("(uint64_t){}", signed(width, text)),
    }
}

fn statement(program: &Program, instr: &Instr) -> Result<String, String> {
    let set = |dst: &Option<Reg>, text: String| match dst {
        Some(dst) => format!("r{} = {text};", dst.0),
        None => format!("(void)({text});"),
    };
    Ok(match instr {
        Instr::Assign { dst, value } => assignment(*dst, value)?,
        Instr::Load { dst, addr, width, extend, .. } | Instr::CopyLoad { dst, addr, width, extend, .. } => {
            set(&Some(*dst), extended(*width, *extend, &place(program, addr, *width)))
        }
        Instr::Store { addr, value, width, .. } => {
            format!("{} = (int{}_t){};", place(program, addr, *width), bits(*width), operand(value))
        }
        Instr::Rmw { dst, addr, width, extend, op, operand: value, .. } => {
            let function = match op {
                RmwOp::Exchange => "__atomic_exchange_n",
                RmwOp::Add => "__atomic_fetch_add",
                RmwOp::Sub => "__atomic_fetch_sub",
                RmwOp::And => "__atomic_fetch_and",
                RmwOp::Nand => "__atomic_fetch_nand",
                RmwOp::Or => "__atomic_fetch_or",
                RmwOp::Xor => "__atomic_fetch_xor",
                _ => return Err("a read-modify-write that C has no builtin for".into()),
            };
            let (place, cast) = (place(program, addr, *width), bits(*width));
            let old = format!("{function}(&{place}, (int{cast}_t){}, __ATOMIC_SEQ_CST)", operand(value));
            set(dst, extended(*width, *extend, &old))
        }
        Instr::CompareExchange { weak: true, .. } => return Err("a weak compare-exchange".into()),
        Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
            let (place, bits) = (place(program, addr, *width), bits(*width));
            let (expected, desired) = (operand(expected), operand(desired));
            let mut text = format!(
                "{{ int{bits}_t seen = (int{bits}_t){expected}; int ok = __atomic_compare_exchange_n(&{place}, \
                 &seen, (int{bits}_t){desired}, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); (void)ok;"
            );
            if let Some(dst) = dst {
                let _ = write!(text, " r{} = {};", dst.0, extended(*width, *extend, "seen"));
            }
            if let Some(success) = success {
                let _ = write!(text, " r{} = (uint64_t)ok;", success.0);
            }
            text + " }"
        }
        Instr::Fence(_) => ";".into(),
        Instr::Jump(to) => format!("goto L{};", to.0),
        Instr::Branch { condition, then_to, else_to } => {
            format!("if ({}) goto L{}; else goto L{};", operand(condition), then_to.0, else_to.0)
        }
        Instr::Call { dst, callee: Callee::Function(f), args } => {
            let callee = &program.functions[f.0 as usize];
            let mut args: Vec<String> = args.iter().map(operand).collect();
            args.resize(callee.params as usize, "0".into());
            set(dst, format!("{}({})", name("f", f.0 as usize, &callee.name), args.join(", ")))
        }
        Instr::Spawn { dst, callee: Callee::Function(f), args } => {
            let mut args: Vec<String> = args.iter().map(operand).collect();
            args.resize(program.functions[f.0 as usize].params as usize, "0".into());
            start(program, f.0, &args, *dst)
        }
        Instr::Call { .. } | Instr::Spawn { .. } => return Err("a call through a pointer".into()),
        Instr::Return(None) => "return 0;".into(),
        Instr::Return(Some(value)) => format!("return {};", operand(value)),
        Instr::Join { thread, dst } => {
            let result =
                dst.map_or(String::new(), |dst| format!(" r{} = (uint64_t)(uintptr_t)result;", dst.0));
            format!("{{ void *result = 0; pthread_join(threads[{}], &result);{result} }}", operand(thread))
        }
        Instr::Lock(addr) => {
            let place = place(program, addr, Width::W32);
            format!(
                "__VERIFIER_atomic_begin(); __VERIFIER_assume({place} == 0); {place} = 1; __VERIFIER_atomic_end();"
            )
        }
        Instr::Unlock(addr) => format!("{} = 0;", place(program, addr, Width::W32)),
        Instr::Round(_) | Instr::Defined(_) => ";".into(),
        Instr::Assume(condition) => format!("__VERIFIER_assume({} != 0);", operand(condition)),
        Instr::Assert { condition, message, .. } => {
            format!("assert({} != 0); /* {} */", operand(condition), comment(message))
        }
        // Where the translation ends it must not be taken for an execution without a mistake.
        Instr::Fail { message, .. } => format!("assert(0); /* {} */", comment(message)),
        Instr::Nondet { dst, first, last } => choice(*dst, *first, *last),
        Instr::Cut => "__VERIFIER_assume(0);".into(),
        Instr::AtomicBegin => "__VERIFIER_atomic_begin();".into(),
        Instr::AtomicEnd => "__VERIFIER_atomic_end();".into(),
        Instr::StoreExclusive { .. } | Instr::Alloc { .. } | Instr::Free(_) => {
            return Err("a store-exclusive or an allocation".into());
        }
        #[allow(unreachable_patterns)]
        _ => return Err("an instruction that only C has".into()),
    })
}

/// A message that can stand in a comment.
fn comment(message: &str) -> String {
    message.chars().filter(|c| !"*/\\\n".contains(*c)).collect()
}

/// A choice of a small range bit by bit, so that tools that enumerate values can run it too; others as an integer.
fn choice(dst: Reg, first: i64, last: i64) -> String {
    let register = format!("r{}", dst.0);
    let range = i128::from(last) - i128::from(first);
    let in_range =
        format!("__VERIFIER_assume((int64_t){register} >= {first} && (int64_t){register} <= {last});");
    if !(0..1 << 16).contains(&range) {
        return format!("{register} = (uint64_t)(int64_t)__VERIFIER_nondet_int(); {in_range}");
    }
    let bits = 128 - (range as u128).leading_zeros();
    let mut text = format!("{register} = (uint64_t)(int64_t){first};");
    for bit in 0..bits {
        let _ = write!(text, " if (__VERIFIER_nondet_bool()) {register} += {}u;", 1u64 << bit);
    }
    // All patterns of the bits are in range if their number is a power of two.
    if !(range as u128 + 1).is_power_of_two() {
        let _ = write!(text, " {in_range}");
    }
    text
}

fn assignment(dst: Reg, value: &Rvalue) -> Result<String, String> {
    Ok(format!("r{} = {};", dst.0, expression(value, &operand)?))
}

/// What an assignment computes, with operands as somebody prints them.
pub(crate) fn expression(value: &Rvalue, operand: &dyn Fn(&Operand) -> String) -> Result<String, String> {
    Ok(match value {
        Rvalue::Use(a) => operand(a),
        Rvalue::Select(c, a, b) => {
            format!("{} ? (uint64_t)({}) : (uint64_t)({})", operand(c), operand(a), operand(b))
        }
        Rvalue::Unary(op, width, extend, a) => {
            let a = operand(a);
            let text = match op {
                UnaryOp::Neg => format!("(uint64_t)0 - (uint64_t)({a})"),
                UnaryOp::Not => format!("~(uint64_t){a}"),
                UnaryOp::LogicalNot => format!("{} == 0", unsigned(*width, &a)),
                UnaryOp::ZeroExtend => unsigned(*width, &a),
                UnaryOp::SignExtend => signed(*width, &a),
                _ => return Err("floating-point arithmetic".into()),
            };
            extended(*width, *extend, &text)
        }
        Rvalue::Binary(op, width, extend, a, b) => {
            let (a, b) = (operand(a), operand(b));
            let (ua, ub) = (unsigned(*width, &a), unsigned(*width, &b));
            let (sa, sb) = (signed(*width, &a), signed(*width, &b));
            let count = format!("({ub} & {}u)", bits(*width) - 1);
            let text = match op {
                BinaryOp::Add => format!("{ua} + {ub}"),
                BinaryOp::Sub => format!("{ua} - {ub}"),
                BinaryOp::Mul => format!("{ua} * {ub}"),
                BinaryOp::DivU => format!("{ua} / {ub}"),
                BinaryOp::DivS => format!("{sa} / {sb}"),
                BinaryOp::RemU => format!("{ua} % {ub}"),
                BinaryOp::RemS => format!("{sa} % {sb}"),
                BinaryOp::And => format!("{ua} & {ub}"),
                BinaryOp::Or => format!("{ua} | {ub}"),
                BinaryOp::Xor => format!("{ua} ^ {ub}"),
                BinaryOp::Shl => format!("{ua} << {count}"),
                BinaryOp::ShrU => format!("{ua} >> {count}"),
                BinaryOp::ShrS => format!("{sa} >> {count}"),
                BinaryOp::Eq => format!("{ua} == {ub}"),
                BinaryOp::Ne => format!("{ua} != {ub}"),
                BinaryOp::LtU => format!("{ua} < {ub}"),
                BinaryOp::LtS => format!("{sa} < {sb}"),
                BinaryOp::LeU => format!("{ua} <= {ub}"),
                BinaryOp::LeS => format!("{sa} <= {sb}"),
                BinaryOp::GtU => format!("{ua} > {ub}"),
                BinaryOp::GtS => format!("{sa} > {sb}"),
                BinaryOp::GeU => format!("{ua} >= {ub}"),
                BinaryOp::GeS => format!("{sa} >= {sb}"),
                _ => return Err("floating-point arithmetic".into()),
            };
            extended(*width, *extend, &text)
        }
    })
}
