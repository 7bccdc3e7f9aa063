//! Programs in one line, for directed tests: `Wx1 sync Wy1 | Ry Rx<addr0`.
//!
//! Threads are separated by `|`, statements by spaces. `Rx` loads, `Wx1` stores, `Sx1` exchanges, `Ax` adds one, `Cx01`
//! compares with 0 and sets 1, `Lx` loads with a reservation, `Xx1` stores if the reservation stands; a fence goes by
//! its name. A value `r0` is the register of statement 0 of the thread (the status, for `X`). `.acq` and the like give
//! the memory order. Dependencies on the register of a statement: `<addr0` and `<data0` (which keep the value as it is),
//! `<ctrl0` a branch to the next statement, `<pick0` a select (`<pickaddr0` of the address), `<exp0` of the value that `C`
//! expects, and `<if0` runs the statement only if the register is not zero.

use super::{Builder, NOWHERE};
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, Instr, Label, ObjectId, Operand, Order, Program, Reg, RmwOp,
    Rvalue, Value, Width,
};

/// The program that a line means; panics on a line that means none.
pub fn program(text: &str) -> Program {
    let mut cells: Vec<char> = Vec::new();
    let threads: Vec<Function> = text.split('|').map(|thread| function(thread, &mut cells)).collect();
    let mut builder = Builder::new(cells.len());
    threads.into_iter().for_each(|function| builder.thread().set_function(function));
    builder.program()
}

fn function(text: &str, cells: &mut Vec<char>) -> Function {
    let mut compiler = Compiler { function: Function::default(), regs: Vec::new() };
    for statement in text.split_whitespace() {
        let mut parts = statement.split('<');
        let head = parts.next().expect("a statement");
        let depends = parts.map(|part| {
            let digit = part.find(|c: char| c.is_ascii_digit()).expect("a statement's number");
            (&part[..digit], part[digit..].parse().expect("a statement's number"))
        });
        compiler.statement(head, &depends.collect::<Vec<(&str, usize)>>(), cells);
    }
    compiler.function
}

struct Compiler {
    function: Function,
    /// The register that each statement sets.
    regs: Vec<Option<Reg>>,
}

impl Compiler {
    fn push(&mut self, instr: Instr) {
        self.function.push(instr, NOWHERE);
    }

    fn reg(&self, statement: usize) -> Reg {
        self.regs[statement].expect("a statement with a register")
    }

    fn assign(&mut self, value: Rvalue) -> Operand {
        let dst = self.function.new_reg("t");
        self.push(Instr::Assign { dst, value });
        dst.into()
    }

    fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        self.assign(Rvalue::Binary(op, Width::W64, Extend::Zero, a, b))
    }

    /// The same value, with the dependencies of these kinds.
    fn depend(&mut self, value: Operand, depends: &[(&str, usize)], kind: &str) -> Operand {
        let mut value = value;
        for &(_, from) in depends.iter().filter(|(k, _)| *k == kind) {
            let reg = self.reg(from).into();
            let zero = self.binary(BinaryOp::Xor, reg, reg);
            value = self.binary(BinaryOp::Add, zero, value);
        }
        value
    }

    fn pick(&mut self, value: Operand, depends: &[(&str, usize)], kind: &str) -> Operand {
        let mut value = value;
        for &(_, from) in depends.iter().filter(|(k, _)| *k == kind) {
            let condition = self.reg(from).into();
            value = self.assign(Rvalue::Select(condition, value, value));
        }
        value
    }

    fn statement(&mut self, head: &str, depends: &[(&str, usize)], cells: &mut Vec<char>) {
        for &(_, from) in depends.iter().filter(|(kind, _)| *kind == "ctrl") {
            self.branch(self.reg(from).into());
        }
        let skip = depends.iter().find(|(kind, _)| *kind == "if").map(|&(_, from)| {
            let at = self.function.next_label();
            self.push(Instr::Cut);
            (at, self.reg(from))
        });
        if head.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.access(head, depends, cells);
        } else {
            if depends.iter().any(|(kind, _)| *kind == "pick") {
                let condition = self.pick(Value(1).into(), depends, "pick");
                self.branch(condition);
            }
            let fence = Fence::named(head);
            self.push(Instr::Fence(fence.unwrap_or_else(|| panic!("no fence `{head}`"))));
            self.regs.push(None);
        }
        if let Some((at, condition)) = skip {
            let (then_to, else_to) = (Label(at.0 + 1), self.function.next_label());
            self.function.body[at.0 as usize] =
                Instr::Branch { condition: condition.into(), then_to, else_to };
        }
    }

    fn branch(&mut self, condition: Operand) {
        let next = Label(self.function.next_label().0 + 1);
        self.push(Instr::Branch { condition, then_to: next, else_to: next });
    }

    fn access(&mut self, head: &str, depends: &[(&str, usize)], cells: &mut Vec<char>) {
        let (head, order) = head.split_once('.').unwrap_or((head, "plain"));
        let order = Order::ALL.into_iter().find(|o| o.name() == order).expect("an order");
        let mut letters = head.chars();
        let (kind, cell) = (letters.next().expect("a kind"), letters.next().expect("a cell"));
        let operand = letters.as_str();
        if !cells.contains(&cell) {
            cells.push(cell);
        }
        let index = cells.iter().position(|&c| c == cell).expect("just made sure");
        let (width, extend) = (Width::W32, Extend::Sign);
        let addr = Value::pointer(ObjectId(index as u32), 0).into();
        let mut addr = self.depend(addr, depends, "addr");
        addr = self.pick(addr, depends, "pickaddr");
        if matches!(kind, 'R' | 'L') {
            addr = self.pick(addr, depends, "pick");
            let dst = self.function.new_reg("r");
            let ann = if kind == 'L' { Ann::exclusive(order) } else { Ann::order(order) };
            self.push(Instr::Load { dst, addr, width, extend, ann });
            return self.regs.push(Some(dst));
        }
        let constant = |text: &str| Value(text.parse().unwrap_or_else(|_| panic!("`{text}`: no value")));
        let value = match (kind, operand.strip_prefix('r')) {
            ('A', _) => Value(1).into(),
            ('C', _) => constant(&operand[1..]).into(),
            (_, Some(from)) => self.reg(from.parse().expect("a statement's number")).into(),
            _ => constant(operand).into(),
        };
        let value = self.depend(value, depends, "data");
        let value = self.pick(value, depends, "pick");
        let (read, write) = halves(order);
        let dst = (kind != 'W').then(|| self.function.new_reg("r"));
        match kind {
            'W' => self.push(Instr::Store { addr, value, width, ann: Ann::order(order) }),
            'X' => self.push(Instr::StoreExclusive {
                status: dst.expect("made above"),
                success: 0,
                addr,
                value,
                width,
                ann: Ann::exclusive(order),
            }),
            'C' => {
                let expected = self.depend(constant(&operand[..1]).into(), depends, "exp");
                let (success, desired, failure, weak) = (None, value, read, false);
                self.push(Instr::CompareExchange {
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
                });
            }
            'S' | 'A' => {
                let op = if kind == 'S' { RmwOp::Exchange } else { RmwOp::Add };
                self.push(Instr::Rmw { dst, addr, width, extend, op, operand: value, read, write });
            }
            _ => panic!("no statement `{head}`"),
        }
        self.regs.push(dst);
    }
}

/// The orders of the halves of a read-modify-write.
fn halves(order: Order) -> (Ann, Ann) {
    let (read, write) = match order {
        Order::Acquire | Order::AcquirePc | Order::Consume => (order, Order::Relaxed),
        Order::Release => (Order::Relaxed, order),
        Order::AcqRel => (Order::Acquire, Order::Release),
        both => (both, both),
    };
    (Ann::order(read), Ann::order(write))
}
