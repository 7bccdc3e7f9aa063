//! Small programs for tests: a list of statements per thread, and the IR that it means.

use fencepost_ir::{
    Ann, Extend, Fence, FinalCondition, Function, FunctionId, Instr, Label, Object, ObjectId, Observable,
    Operand, Program, Property, Proposition, Quantifier, Reg, RmwOp, Span, Thread, ThreadId, Value, Width,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// One statement. Each load, read-modify-write and compare-exchange gets a register of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stmt {
    Store(u32, u64),
    /// Stores what the last load read.
    Copy(u32),
    Load(u32),
    Fence(u8),
    Add(u32),
    Cas(u32, u64, u64),
    /// Runs the next statement only if the last load read zero.
    Unless,
}

pub const FENCES: [Fence; 4] = [Fence::Mfence, Fence::Sfence, Fence::Lwsync, Fence::Isync];

pub fn stmt(cells: u32) -> impl Strategy<Value = Stmt> {
    prop_oneof![
        3 => (0..cells, 1u64..3).prop_map(|(c, v)| Stmt::Store(c, v)),
        1 => (0..cells).prop_map(Stmt::Copy),
        3 => (0..cells).prop_map(Stmt::Load),
        1 => select(vec![0u8, 0, 1, 2, 3]).prop_map(Stmt::Fence),
        1 => (0..cells).prop_map(Stmt::Add),
        1 => (0..cells, 0u64..2, 1u64..3).prop_map(|(c, e, d)| Stmt::Cas(c, e, d)),
        1 => Just(Stmt::Unless),
    ]
}

pub fn threads(count: usize, length: usize, cells: u32) -> impl Strategy<Value = Vec<Vec<Stmt>>> {
    vec(vec(stmt(cells), 1..=length), 2..=count)
}

fn address(cell: u32) -> Operand {
    Operand::Const(Value::pointer(ObjectId(cell), 0))
}

fn function(stmts: &[Stmt]) -> Function {
    let mut f = Function::default();
    let mut last: Option<Reg> = None;
    let mut open: Option<Label> = None;
    for stmt in stmts {
        let close = open.take();
        let width = Width::W32;
        let (extend, ann) = (Extend::Sign, Ann::PLAIN);
        let mut new = |f: &mut Function| {
            let reg = f.new_reg("r");
            last = Some(reg);
            reg
        };
        let instr = match *stmt {
            Stmt::Store(cell, value) => {
                Instr::Store { addr: address(cell), value: Operand::Const(Value(value)), width, ann }
            }
            Stmt::Copy(cell) => {
                let value = last.map_or(Operand::Const(Value(1)), Operand::Reg);
                Instr::Store { addr: address(cell), value, width, ann }
            }
            Stmt::Load(cell) => Instr::Load { dst: new(&mut f), addr: address(cell), width, extend, ann },
            Stmt::Fence(kind) => Instr::Fence(FENCES[kind as usize]),
            Stmt::Add(cell) => Instr::Rmw {
                dst: Some(new(&mut f)),
                addr: address(cell),
                width,
                extend,
                op: RmwOp::Add,
                operand: Operand::Const(Value(1)),
                read: ann,
                write: ann,
            },
            Stmt::Cas(cell, expected, desired) => Instr::CompareExchange {
                dst: Some(new(&mut f)),
                success: None,
                addr: address(cell),
                width,
                extend,
                expected: Operand::Const(Value(expected)),
                desired: Operand::Const(Value(desired)),
                read: ann,
                write: ann,
                failure: ann,
                weak: false,
            },
            Stmt::Unless => {
                if let Some(reg) = last {
                    let at = f.next_label();
                    let else_to = Label(at.0 + 1);
                    // The target is set when the next statement is there.
                    f.push(Instr::Branch { condition: reg.into(), then_to: at, else_to }, Span::default());
                    open = Some(at);
                }
                patch(&mut f, close);
                continue;
            }
        };
        f.push(instr, Span::default());
        patch(&mut f, close);
    }
    patch(&mut f, open);
    f
}

fn patch(f: &mut Function, open: Option<Label>) {
    let end = f.next_label();
    if let Some(at) = open
        && let Instr::Branch { then_to, .. } = &mut f.body[at.0 as usize]
    {
        *then_to = end;
    }
}

/// The program, observing every register and every cell.
pub fn program(threads: &[Vec<Stmt>], cells: u32) -> Program {
    let functions: Vec<Function> = threads.iter().map(|stmts| function(stmts)).collect();
    let mut observed: Vec<Observable> = (0..cells)
        .map(|c| Observable::Memory { object: ObjectId(c), offset: 0, width: Width::W32 })
        .collect();
    for (t, f) in (0u32..).zip(&functions) {
        let regs = 0..f.regs.len() as u32;
        observed.extend(regs.map(|r| Observable::Register { thread: ThreadId(t), reg: Reg(r) }));
    }
    let shown = observed.len();
    let condition = FinalCondition {
        quantifier: Quantifier::Exists,
        proposition: Proposition::True,
        observed,
        shown,
        filter: None,
    };
    Program {
        name: "test".into(),
        objects: (0..cells)
            .map(|c| Object::scalar(format!("x{c}"), Width::W32, Value(0), Span::default()))
            .collect(),
        threads: (0..functions.len())
            .map(|t| Thread { name: format!("P{t}"), function: FunctionId(t as u32), args: Vec::new() })
            .collect(),
        functions,
        property: Property::Final(condition),
        ..Program::default()
    }
}
