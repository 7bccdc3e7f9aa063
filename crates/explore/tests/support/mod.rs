//! Programs built by hand and at random, for tests.

#[allow(dead_code)]
pub mod compare;
#[allow(dead_code)]
pub mod families;
#[allow(dead_code)]
pub mod random;
#[allow(dead_code)]
pub mod text;

use fencepost_explore::{ModelName, Options, explore};
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, FunctionId, Instr, Label, Object, ObjectId, Operand, Order,
    Program, Reg, RmwOp, Rvalue, Span, Thread, Value, Width,
};

const NOWHERE: Span = Span { start: 0, end: 0 };

/// Builds a program over scalar cells, thread by thread.
pub struct Builder {
    objects: Vec<Object>,
    threads: Vec<ThreadBuilder>,
}

/// Builds the code of one thread; all accesses are atomic and relaxed, unless `order` says otherwise.
pub struct ThreadBuilder {
    function: Function,
    pub order: Order,
}

#[allow(dead_code)]
impl Builder {
    pub fn new(cells: usize) -> Builder {
        let objects =
            (0..cells).map(|i| Object::scalar(format!("x{i}"), Width::W32, Value(0), NOWHERE)).collect();
        Builder { objects, threads: Vec::new() }
    }

    pub fn init(&mut self, cell: usize, value: u64) {
        self.objects[cell].cells[0].init = Some(Value(value));
    }

    pub fn thread(&mut self) -> &mut ThreadBuilder {
        self.threads.push(ThreadBuilder { function: Function::default(), order: Order::Relaxed });
        self.threads.last_mut().expect("just pushed")
    }

    pub fn program(self) -> Program {
        let threads = (0..self.threads.len())
            .map(|i| Thread { name: format!("P{i}"), function: FunctionId(i as u32), args: Vec::new() })
            .collect();
        let functions = self.threads.into_iter().map(|t| t.function).collect();
        Program { name: "test".into(), objects: self.objects, functions, threads, ..Program::default() }
    }
}

fn address(cell: usize) -> Operand {
    Operand::Const(Value::pointer(ObjectId(cell as u32), 0))
}

#[allow(dead_code)]
impl ThreadBuilder {
    fn push(&mut self, instr: Instr) {
        self.function.push(instr, NOWHERE);
    }

    pub fn set_function(&mut self, function: Function) {
        self.function = function;
    }

    pub fn load(&mut self, cell: usize) -> Reg {
        let dst = self.function.new_reg("r");
        let ann = Ann::order(self.order);
        self.push(Instr::Load { dst, addr: address(cell), width: Width::W32, extend: Extend::Sign, ann });
        dst
    }

    pub fn store(&mut self, cell: usize, value: u64) {
        self.store_operand(cell, Operand::Const(Value(value)));
    }

    pub fn store_operand(&mut self, cell: usize, value: Operand) {
        let ann = Ann::order(self.order);
        self.push(Instr::Store { addr: address(cell), value, width: Width::W32, ann });
    }

    pub fn store_sum(&mut self, cell: usize, a: Reg, b: Reg) {
        let sum = self.function.new_reg("sum");
        let value = Rvalue::Binary(BinaryOp::Add, Width::W32, Extend::Sign, a.into(), b.into());
        self.push(Instr::Assign { dst: sum, value });
        self.store_operand(cell, sum.into());
    }

    pub fn fetch_add(&mut self, cell: usize, value: u64) -> Reg {
        let dst = self.function.new_reg("r");
        let ann = Ann::order(self.order);
        self.push(Instr::Rmw {
            dst: Some(dst),
            addr: address(cell),
            width: Width::W32,
            extend: Extend::Sign,
            op: RmwOp::Add,
            operand: Operand::Const(Value(value)),
            read: ann,
            write: ann,
        });
        dst
    }

    pub fn compare_exchange(&mut self, cell: usize, expected: i64, desired: i64) {
        let ann = Ann::order(self.order);
        self.push(Instr::CompareExchange {
            dst: None,
            success: None,
            addr: address(cell),
            width: Width::W32,
            extend: Extend::Sign,
            expected: Operand::Const(Value::from_i64(expected)),
            desired: Operand::Const(Value::from_i64(desired)),
            read: ann,
            write: ann,
            failure: ann,
            weak: false,
        });
    }

    pub fn fence(&mut self, fence: Fence) {
        self.push(Instr::Fence(fence));
    }

    /// Runs `otherwise` only if the register is zero.
    pub fn branch_if(&mut self, condition: Reg, otherwise: impl FnOnce(&mut ThreadBuilder)) {
        let at = self.function.next_label();
        self.push(Instr::Jump(at));
        otherwise(self);
        let end = self.function.next_label();
        let else_to = Label(at.0 + 1);
        self.function.body[at.0 as usize] =
            Instr::Branch { condition: condition.into(), then_to: end, else_to };
    }
}

/// The number of complete executions.
#[allow(dead_code)]
pub fn executions(program: &Program, model: ModelName) -> u64 {
    let found = explore(program, &Options::new(model)).expect("supported");
    assert!(found.stopped.is_none());
    found.stats.executions
}
