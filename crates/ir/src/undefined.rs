//! Where a program may use a value that nobody wrote, a check before the use.
//!
//! C lets uninitialised bytes of arrays, structures and allocated memory be copied: a load of them gives
//! [`crate::Value::UNDEFINED`], which registers, calls, stores and conversions between integers pass on. It is a mistake to
//! *use* it: in a branch or an assertion, in arithmetic, as an address, a size, a thread, or what an exchange
//! compares with, or as the result of the process. [`check_uses`] puts an [`Instr::Defined`] before each use of a register that
//! may hold such a value,
//! so that engines have one instruction to know and pay for it only where it can happen.
//!
//! The analysis goes forward over the registers of each function, and round all functions until nothing changes:
//! parameters may be undefined where an argument may be, results where a returned value may be, and what is loaded
//! where an undefined value may have been stored anywhere. It may ask for a check too many, never for one too few.

use crate::annotation::Order;
use crate::flow::forward;
use crate::program::{Callee, Function, Instr, Object, Operand, Program, Reg, RmwOp, Rvalue, UnaryOp};
use crate::value::Value;
use std::collections::BTreeMap;

/// Adds the checks to all functions.
pub fn check_uses(program: &mut Program) {
    if !has_uninitialised_memory(program) {
        return copy_nothing_undefined(program);
    }
    let mut known = Known::new(program);
    while known.pass(program) {}
    if !known.any {
        return;
    }
    let checks: Vec<_> = (0..program.functions.len()).map(|f| known.checks(program, f)).collect();
    for (function, checks) in program.functions.iter_mut().zip(checks) {
        insert(function, &checks);
    }
}

/// Whether any memory of the program is without a value at first.
fn has_uninitialised_memory(program: &Program) -> bool {
    let without = |object: &Object| object.cells.is_empty() || object.cells.iter().any(|c| c.init.is_none());
    let makes = |instr: &Instr| match instr {
        Instr::Alloc { zeroed, .. } => !zeroed,
        Instr::Local { object, .. } => without(object),
        _ => false,
    };
    program.objects.iter().any(without) || program.functions.iter().flat_map(|f| &f.body).any(makes)
}

/// Makes ordinary loads of those that could copy an undefined value if there were one.
fn copy_nothing_undefined(program: &mut Program) {
    for instr in program.functions.iter_mut().flat_map(|f| &mut f.body) {
        if let Instr::CopyLoad { dst, addr, width, extend, ann, keeps: true } = *instr {
            *instr = Instr::Load { dst, addr, width, extend, ann };
        }
    }
}

/// A set of registers.
type Registers = Vec<u64>;

fn contains(set: &[u64], reg: Reg) -> bool {
    set[reg.0 as usize / 64] >> (reg.0 % 64) & 1 != 0
}

fn put(set: &mut [u64], reg: Reg, member: bool) {
    let bit = 1 << (reg.0 % 64);
    match member {
        true => set[reg.0 as usize / 64] |= bit,
        false => set[reg.0 as usize / 64] &= !bit,
    }
}

/// What may be undefined between functions.
struct Known {
    /// Parameters, for each function.
    params: Vec<Registers>,
    /// What functions return, and whether anything returns to a call through a pointer or a join.
    results: Vec<bool>,
    /// What memory holds.
    stored: bool,
    /// Anything at all.
    any: bool,
}

impl Known {
    fn new(program: &Program) -> Known {
        let words = |function: &Function| vec![0; function.regs.len().div_ceil(64)];
        let params = program.functions.iter().map(words).collect();
        Known { params, results: vec![false; program.functions.len()], stored: false, any: false }
    }

    /// Looks at all functions; true if something new became known.
    fn pass(&mut self, program: &Program) -> bool {
        let mut changed = false;
        for f in 0..program.functions.len() {
            self.flow(program, f, |known, instr, set| changed |= known.notice(program, f, instr, set));
        }
        changed
    }

    /// Calls `see` for each instruction that can be reached with the registers that may be undefined before it, as far
    /// as they are known; at the last call for an instruction, with all of them.
    fn flow(&mut self, program: &Program, f: usize, mut see: impl FnMut(&mut Known, (u32, &Instr), &[u64])) {
        let union = |known: &mut Registers, set: &Registers| {
            let new = set.iter().zip(&*known).any(|(a, b)| a & !b != 0);
            known.iter_mut().zip(set).for_each(|(a, b)| *a |= b);
            new
        };
        forward(&program.functions[f], self.params[f].clone(), union, |at, instr, set| {
            see(self, (at, instr), set);
            self.after(instr, set);
        });
    }

    /// What an instruction tells other functions.
    fn notice(&mut self, program: &Program, f: usize, (_, instr): (u32, &Instr), set: &[u64]) -> bool {
        let undefined = |operand: Operand| match operand {
            Operand::Reg(reg) => contains(set, reg),
            Operand::Const(value) => value == Value::UNDEFINED,
        };
        let mut changed = false;
        let mut learn =
            |fact: &mut bool, value: bool| changed |= value && !std::mem::replace(fact, *fact | value);
        match instr {
            Instr::CopyLoad { keeps, .. } => learn(&mut self.any, *keeps),
            Instr::Store { value, .. } | Instr::StoreExclusive { value, .. } => {
                learn(&mut self.stored, undefined(*value));
                learn(&mut self.any, *value == Operand::Const(Value::UNDEFINED));
            }
            Instr::CompareExchange { desired, .. } => learn(&mut self.stored, undefined(*desired)),
            Instr::Rmw { operand, .. } | Instr::AwaitRmw { operand, .. } => {
                learn(&mut self.stored, undefined(*operand));
            }
            Instr::Return(Some(value)) | Instr::Exit(Some(value)) => {
                learn(&mut self.results[f], undefined(*value));
            }
            Instr::Call { callee, args, .. } | Instr::Spawn { callee, args, .. } => {
                let callees = match callee {
                    Callee::Function(function) => function.0 as usize..function.0 as usize + 1,
                    Callee::Pointer(_) => 0..program.functions.len(),
                };
                for callee in callees {
                    let params = program.functions[callee].params;
                    for (param, &arg) in (0..params).zip(args) {
                        let mut fact = contains(&self.params[callee], Reg(param));
                        learn(&mut fact, undefined(arg));
                        put(&mut self.params[callee], Reg(param), fact);
                    }
                }
            }
            _ => {}
        }
        changed
    }

    /// The registers that may be undefined behind an instruction.
    fn after(&self, instr: &Instr, set: &mut [u64]) {
        let undefined = |operand: Operand| matches!(operand, Operand::Reg(reg) if contains(set, reg));
        let result = match instr {
            Instr::Assign { value, .. } => match *value {
                Rvalue::Use(a) => undefined(a),
                Rvalue::Unary(op, _, _, a) => passes_on(op) && undefined(a),
                Rvalue::Binary(..) => false,
                Rvalue::Select(_, a, b) => undefined(a) || undefined(b),
            },
            Instr::CopyLoad { keeps, .. } => *keeps,
            // What is loaded from a global object has a value, unless one that has none was copied there.
            Instr::Load { addr, ann, .. } => {
                ann.order == Order::Plain && (self.stored || matches!(addr, Operand::Reg(_)))
            }
            Instr::Call { callee: Callee::Function(function), .. } => self.results[function.0 as usize],
            Instr::Call { .. } | Instr::Join { .. } => self.results.contains(&true),
            _ => false,
        };
        for_each_use(instr, |reg| put(set, reg, false));
        instr.for_each_definition(|reg| put(set, reg, result));
    }

    /// The registers to check before each instruction of a function.
    fn checks(&mut self, program: &Program, f: usize) -> BTreeMap<u32, Vec<Reg>> {
        let mut checks: BTreeMap<u32, Vec<Reg>> = BTreeMap::new();
        let ends_process = program.is_process() && program.threads[0].function.0 as usize == f;
        self.flow(program, f, |_, (at, instr), set| {
            let mut here = Vec::new();
            let mut note = |reg| {
                if contains(set, reg) && !here.contains(&reg) {
                    here.push(reg);
                }
            };
            for_each_use(instr, &mut note);
            if let (Instr::Return(Some(Operand::Reg(reg))), true) = (instr, ends_process) {
                note(*reg);
            }
            if !here.is_empty() {
                checks.insert(at, here);
            }
        });
        checks
    }
}

/// Conversions of integers pass an undefined value on.
fn passes_on(op: UnaryOp) -> bool {
    matches!(op, UnaryOp::ZeroExtend | UnaryOp::SignExtend)
}

/// Calls `visit` for the registers that must be defined for the instruction to make sense.
fn for_each_use(instr: &Instr, mut visit: impl FnMut(Reg)) {
    let mut one = |operand: Operand| {
        if let Operand::Reg(reg) = operand {
            visit(reg);
        }
    };
    match *instr {
        Instr::Assign { ref value, .. } => match *value {
            Rvalue::Unary(op, _, _, a) if !passes_on(op) => one(a),
            Rvalue::Binary(_, _, _, a, b) => [a, b].into_iter().for_each(one),
            Rvalue::Select(condition, _, _) => one(condition),
            Rvalue::Use(_) | Rvalue::Unary(..) => {}
        },
        Instr::Store { addr, .. } | Instr::StoreExclusive { addr, .. } => one(addr),
        Instr::Rmw { addr, op: RmwOp::Exchange, .. } => one(addr),
        Instr::AwaitRmw { addr, until, op: RmwOp::Exchange, .. } => {
            [addr, until.operand].into_iter().for_each(one);
        }
        Instr::CompareExchange { addr, expected, .. } => [addr, expected].into_iter().for_each(one),
        Instr::Call { callee: Callee::Pointer(pointer), .. }
        | Instr::Spawn { callee: Callee::Pointer(pointer), .. } => one(pointer),
        Instr::Call { .. } | Instr::Spawn { .. } | Instr::Return(_) | Instr::Exit(_) | Instr::Defined(_) => {}
        _ => instr.for_each_use(visit),
    }
}

/// Puts the checks in, and lets every jump to an instruction go to its checks.
fn insert(function: &mut Function, checks: &BTreeMap<u32, Vec<Reg>>) {
    if checks.is_empty() {
        return;
    }
    let checked = function.rewritten(|at, instr, to| {
        let registers = checks.get(&at).into_iter().flatten();
        to.extend(registers.map(|&reg| Instr::Defined(Operand::Reg(reg))));
        to.push(instr.clone());
    });
    *function = checked.0;
}
