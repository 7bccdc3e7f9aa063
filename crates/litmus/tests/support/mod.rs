//! Two ways to look at a lowered test: as text, and by running its threads one after the other.

// Each test file uses a part of this.
#![allow(dead_code)]

use fencepost_diag::SourceFile;
use fencepost_ir::{
    Ann, Extend, FinalCondition, Instr, Observable, Operand, Order, Program, Property, Reg, Rvalue, Value,
};
use fencepost_litmus::LitmusTest;
use std::collections::HashMap;

/// The parsed test, or a panic with the messages.
pub fn parse(text: &str) -> LitmusTest {
    let file = SourceFile::new("test.litmus", text);
    fencepost_litmus::parse(&file).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| e.render(&file)).collect::<Vec<_>>().join("\n"))
    })
}

/// The messages of a test that does not parse, without snippets.
pub fn messages(text: &str) -> Vec<String> {
    match fencepost_litmus::parse(&SourceFile::new("test.litmus", text)) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|e| e.message).collect(),
    }
}

/// The final condition of a program.
pub fn condition(program: &Program) -> &FinalCondition {
    match &program.property {
        Property::Final(condition) => condition,
        Property::Assertions => panic!("no final condition"),
    }
}

/// The instructions of a thread as text, one per line.
pub fn lowered(program: &Program, thread: usize) -> String {
    let printer = Printer { program, thread };
    program.functions[thread].body.iter().map(|i| printer.instruction(i)).collect::<Vec<_>>().join("\n")
}

struct Printer<'p> {
    program: &'p Program,
    thread: usize,
}

impl Printer<'_> {
    fn reg(&self, reg: Reg) -> &str {
        &self.program.functions[self.thread].regs[reg.0 as usize]
    }

    fn opt(&self, reg: Option<Reg>) -> &str {
        reg.map_or("_", |reg| self.reg(reg))
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(reg) => self.reg(reg).to_string(),
            Operand::Const(value) => match value.as_pointer() {
                Some(_) => format!("&{}", self.program.show_value(value)),
                None => value.as_i64().to_string(),
            },
        }
    }

    fn rvalue(&self, value: Rvalue) -> String {
        let sign = |extend| if extend == Extend::Sign { "s" } else { "u" };
        match value {
            Rvalue::Use(a) => self.operand(a),
            Rvalue::Unary(op, width, extend, a) => {
                format!("{op:?}.{}{} {}", sign(extend), 8 * width.bytes(), self.operand(a))
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                let (a, b) = (self.operand(a), self.operand(b));
                format!("{op:?}.{}{} {a}, {b}", sign(extend), 8 * width.bytes())
            }
            Rvalue::Select(c, a, b) => {
                format!("{} ? {} : {}", self.operand(c), self.operand(a), self.operand(b))
            }
        }
    }

    fn instruction(&self, instr: &Instr) -> String {
        let o = |operand: &Operand| self.operand(*operand);
        match instr {
            Instr::Assign { dst, value } => format!("{} = {}", self.reg(*dst), self.rvalue(*value)),
            Instr::Load { dst, addr, width, extend, ann } => {
                let sign = if *extend == Extend::Sign { "s" } else { "u" };
                format!("{} = load{}.{sign}{} [{}]", self.reg(*dst), show(*ann), 8 * width.bytes(), o(addr))
            }
            Instr::Store { addr, value, width, ann } => {
                format!("store{}.{} [{}] = {}", show(*ann), 8 * width.bytes(), o(addr), o(value))
            }
            Instr::StoreExclusive { status, success, addr, value, width, ann } => {
                let (status, bits) = (self.reg(*status), 8 * width.bytes());
                format!("{status} = store{}.{bits} [{}] = {} (ok {success})", show(*ann), o(addr), o(value))
            }
            Instr::Rmw { dst, addr, width, op, operand, read, write, .. } => {
                let bits = 8 * width.bytes();
                format!(
                    "{} = {op:?}{}{}.{bits} [{}], {}",
                    self.opt(*dst),
                    show(*read),
                    show(*write),
                    o(addr),
                    o(operand)
                )
            }
            Instr::CompareExchange {
                dst,
                success,
                addr,
                expected,
                desired,
                read,
                write,
                failure,
                weak,
                ..
            } => {
                let (dst, success) = (self.opt(*dst), self.opt(*success));
                let orders = format!("{}{}{}", show(*read), show(*write), show(*failure));
                let weak = if *weak { ".weak" } else { "" };
                format!("{dst}, {success} = cas{orders}{weak} [{}], {}, {}", o(addr), o(expected), o(desired))
            }
            Instr::Fence(fence) => fence.name().to_string(),
            Instr::Jump(to) => format!("goto {}", to.0),
            Instr::Branch { condition, then_to, else_to } => {
                format!("if {} goto {} else {}", o(condition), then_to.0, else_to.0)
            }
            other => format!("{other:?}"),
        }
    }
}

fn show(ann: Ann) -> String {
    let mut out = String::new();
    if ann.order != Order::Plain {
        out = format!(".{}", ann.order.name());
    }
    if ann.exclusive {
        out += ".x";
    }
    if ann.no_return {
        out += ".noret";
    }
    if ann.non_temporal {
        out += ".nt";
    }
    out
}

/// Runs the threads one after the other, each to its end, and shows the final state.
pub fn run(text: &str) -> String {
    let test = parse(text);
    let program = &test.program;
    let mut memory = HashMap::new();
    for (id, object) in (0u32..).zip(&program.objects) {
        for cell in &object.cells {
            memory.insert((id, cell.offset), cell.init.unwrap_or(Value::ZERO));
        }
    }
    let mut registers = Vec::new();
    for thread in &program.threads {
        let function = &program.functions[thread.function.0 as usize];
        let mut regs = thread.args.clone();
        regs.resize(function.regs.len(), Value::ZERO);
        let mut machine = Machine { regs, memory: &mut memory, reserved: false };
        let (mut at, mut steps) = (0, 0);
        while let Some(instr) = function.body.get(at) {
            let Some(next) = machine.step(instr, at) else { break };
            at = next;
            steps += 1;
            assert!(steps < 1000, "runs for ever");
        }
        registers.push(machine.regs);
    }
    let condition = condition(program);
    let value = |observable: &Observable| match *observable {
        Observable::Register { thread, reg } => registers[thread.0 as usize][reg.0 as usize],
        Observable::Memory { object, offset, width } => width.sign_extend(memory[&(object.0, offset)]),
    };
    let values: Vec<Value> = condition.observed.iter().map(value).collect();
    let verdict = if condition.proposition.holds(&values) { "" } else { " (condition false)" };
    fencepost_litmus::show_state(program, &values) + verdict
}

struct Machine<'m> {
    regs: Vec<Value>,
    memory: &'m mut HashMap<(u32, u32), Value>,
    reserved: bool,
}

impl Machine<'_> {
    fn get(&self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.regs[reg.0 as usize],
            Operand::Const(value) => value,
        }
    }

    fn set(&mut self, reg: Option<Reg>, value: Value) {
        if let Some(reg) = reg {
            self.regs[reg.0 as usize] = value;
        }
    }

    fn cell(&mut self, addr: Operand) -> &mut Value {
        let addr = self.get(addr);
        let (object, offset) = addr.as_pointer().unwrap_or_else(|| panic!("{addr:?} is no address"));
        self.memory.get_mut(&(object.0, offset)).expect("a cell at this offset")
    }

    fn step(&mut self, instr: &Instr, at: usize) -> Option<usize> {
        match *instr {
            Instr::Assign { dst, value } => {
                let value = match value {
                    Rvalue::Use(a) => self.get(a),
                    Rvalue::Unary(op, width, extend, a) => width.extend(extend, op.apply(width, self.get(a))),
                    Rvalue::Binary(op, width, extend, a, b) => {
                        let result = op.apply(width, self.get(a), self.get(b)).expect("no division by zero");
                        width.extend(extend, result)
                    }
                    Rvalue::Select(c, a, b) => self.get(if self.get(c).is_true() { a } else { b }),
                };
                self.set(Some(dst), value);
            }
            Instr::Load { dst, addr, width, extend, ann } => {
                let value = width.extend(extend, *self.cell(addr));
                self.set(Some(dst), value);
                self.reserved |= ann.exclusive;
            }
            Instr::Store { addr, value, width, .. } => {
                *self.cell(addr) = width.zero_extend(self.get(value));
            }
            Instr::StoreExclusive { status, success, addr, value, width, .. } => {
                let ok = std::mem::take(&mut self.reserved);
                if ok {
                    *self.cell(addr) = width.zero_extend(self.get(value));
                }
                self.set(Some(status), Value(u64::from(if ok { success } else { 1 - success })));
            }
            Instr::Rmw { dst, addr, width, extend, op, operand, .. } => {
                let old = *self.cell(addr);
                *self.cell(addr) = op.apply(width, old, self.get(operand));
                self.set(dst, width.extend(extend, old));
            }
            Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
                let old = *self.cell(addr);
                let equal = width.zero_extend(old) == width.zero_extend(self.get(expected));
                if equal {
                    *self.cell(addr) = width.zero_extend(self.get(desired));
                }
                self.set(dst, width.extend(extend, old));
                self.set(success, Value(u64::from(equal)));
            }
            Instr::Jump(to) => return Some(to.0 as usize),
            Instr::Branch { condition, then_to, else_to } => {
                return Some(if self.get(condition).is_true() { then_to } else { else_to }.0 as usize);
            }
            Instr::Return(_) => return None,
            Instr::Fence(_) => {}
            Instr::Assert { condition, ref message, .. } => {
                assert!(self.get(condition).is_true(), "{message}")
            }
            ref other => panic!("not in litmus tests: {other:?}"),
        }
        Some(at + 1)
    }
}
