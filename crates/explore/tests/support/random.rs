//! Random small programs: a strategy for proptest, and the program that a list of statements means.

use super::Builder;
use super::NOWHERE;
use fencepost_explore::ModelName;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, Instr, Label, ObjectId, Operand, Order, Program, Reg, RmwOp,
    Rvalue, Value, Width,
};
use proptest::prelude::*;

/// One statement; `from` picks the last register that was loaded, if there is one.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    Load {
        cell: usize,
        order: Order,
        addr_from: bool,
    },
    Store {
        cell: usize,
        value: u64,
        order: Order,
        data_from: bool,
        addr_from: bool,
    },
    Fence(Fence),
    Swap {
        cell: usize,
        value: u64,
        read: Order,
        write: Order,
        data_from: bool,
    },
    FetchAdd {
        cell: usize,
        read: Order,
        write: Order,
    },
    Cas {
        cell: usize,
        expected: u64,
        desired: u64,
        read: Order,
        write: Order,
        expected_from: bool,
    },
    LoadExclusive {
        cell: usize,
        order: Order,
    },
    /// With `status`, the outcome becomes the last register.
    StoreExclusive {
        cell: usize,
        value: u64,
        order: Order,
        data_from: bool,
        status: bool,
    },
    /// A branch on the last register whose two ways are the same: a control dependency only.
    Branch,
    /// Skips the next statement if the last register is zero.
    SkipIfZero,
    /// last = last ? last : 0, without a branch.
    Select,
}

/// What a model's random programs are made of.
struct Flavour {
    fences: Vec<Fence>,
    loads: Vec<Order>,
    stores: Vec<Order>,
    exclusives: bool,
    amos: bool,
    selects: bool,
}

fn flavour(model: ModelName) -> Flavour {
    use Order::*;
    let c11 = |orders: &[Order]| orders.iter().map(|&o| Fence::C11(o)).collect::<Vec<_>>();
    let base = Flavour {
        fences: vec![Fence::Mfence],
        loads: vec![Plain],
        stores: vec![Plain],
        exclusives: true,
        amos: true,
        selects: false,
    };
    match model {
        ModelName::Sc | ModelName::Tso => base,
        ModelName::Pso => Flavour { fences: vec![Fence::Mfence, Fence::Sfence, Fence::Eieio], ..base },
        ModelName::Ra => Flavour {
            fences: c11(&[SeqCst]),
            exclusives: false,
            loads: vec![Relaxed, Acquire, Plain],
            stores: vec![Relaxed, Release, Plain],
            ..base
        },
        ModelName::Rc11 | ModelName::Rc20 => Flavour {
            fences: c11(&[SeqCst, Acquire, Release, AcqRel]),
            exclusives: false,
            loads: vec![Relaxed, Acquire, SeqCst, Plain],
            stores: vec![Relaxed, Release, SeqCst, Plain],
            ..base
        },
        ModelName::Power => {
            Flavour { fences: vec![Fence::Sync, Fence::Lwsync, Fence::Eieio, Fence::Isync], ..base }
        }
        ModelName::Armv8 => Flavour {
            fences: vec![Fence::DmbSy, Fence::DmbLd, Fence::DmbSt, Fence::DsbSt, Fence::Isb],
            loads: vec![Plain, Plain, Acquire, AcquirePc],
            stores: vec![Plain, Plain, Release],
            selects: true,
            ..base
        },
    }
}

/// A statement for a model.
fn statement(model: ModelName, cells: usize) -> BoxedStrategy<Stmt> {
    let f = flavour(model);
    let loads = || prop::sample::select(f.loads.clone());
    let stores = || prop::sample::select(f.stores.clone());
    let cell = || 0..cells;
    let value = || 1..3u64;
    // The halves of a C11 read-modify-write are never plain.
    let atomic = matches!(model, ModelName::Ra | ModelName::Rc11 | ModelName::Rc20);
    let amo_order = move |order| if atomic && order == Order::Plain { Order::Relaxed } else { order };
    let amo_orders = || (loads(), stores()).prop_map(move |(r, w)| (amo_order(r), amo_order(w)));
    let flag = any::<bool>;
    let load =
        (cell(), loads(), flag()).prop_map(|(cell, order, addr_from)| Stmt::Load { cell, order, addr_from });
    let store = (cell(), value(), stores(), flag(), prop::bool::weighted(0.2)).prop_map(
        |(cell, value, order, data_from, addr_from)| Stmt::Store { cell, value, order, data_from, addr_from },
    );
    let fence = prop::sample::select(f.fences.clone()).prop_map(Stmt::Fence);
    let mut options = vec![(6, load.boxed()), (6, store.boxed()), (3, fence.boxed())];
    if f.amos {
        let swap =
            (cell(), value(), amo_orders(), flag()).prop_map(|(cell, value, (read, write), data_from)| {
                Stmt::Swap { cell, value, read, write, data_from }
            });
        let add =
            (cell(), amo_orders()).prop_map(|(cell, (read, write))| Stmt::FetchAdd { cell, read, write });
        let cas = (cell(), 0..2u64, value(), amo_orders(), flag()).prop_map(
            |(cell, expected, desired, (read, write), expected_from)| Stmt::Cas {
                cell,
                expected,
                desired,
                read,
                write,
                expected_from,
            },
        );
        options.extend([(1, swap.boxed()), (1, add.boxed()), (1, cas.boxed())]);
    }
    if f.exclusives {
        let load = (cell(), loads()).prop_map(|(cell, order)| Stmt::LoadExclusive { cell, order });
        let store = (cell(), value(), stores(), flag(), flag()).prop_map(
            |(cell, value, order, data_from, status)| Stmt::StoreExclusive {
                cell,
                value,
                order,
                data_from,
                status,
            },
        );
        options.extend([(1, load.boxed()), (1, store.boxed())]);
    }
    if matches!(model, ModelName::Power | ModelName::Armv8) {
        options.push((2, Just(Stmt::Branch).boxed()));
    }
    options.push((1, Just(Stmt::SkipIfZero).boxed()));
    if f.selects {
        options.push((1, Just(Stmt::Select).boxed()));
    }
    prop::strategy::Union::new_weighted(options).boxed()
}

/// A fence for a model.
pub fn fence(model: ModelName) -> impl Strategy<Value = Fence> {
    prop::sample::select(flavour(model).fences)
}

/// Threads of statements for a model.
pub fn threads(
    model: ModelName,
    threads: std::ops::RangeInclusive<usize>,
    length: std::ops::RangeInclusive<usize>,
    cells: usize,
) -> impl Strategy<Value = Vec<Vec<Stmt>>> {
    prop::collection::vec(prop::collection::vec(statement(model, cells), length), threads)
}

fn address(cell: usize) -> Value {
    Value::pointer(ObjectId(cell as u32), 0)
}

struct Compiler {
    function: Function,
    last: Option<Reg>,
}

impl Compiler {
    fn push(&mut self, instr: Instr) {
        self.function.push(instr, NOWHERE);
    }

    fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Reg {
        let dst = self.function.new_reg("t");
        self.push(Instr::Assign { dst, value: Rvalue::Binary(op, Width::W64, Extend::Zero, a, b) });
        dst
    }

    /// `constant`, with a false dependency on the last register if asked for.
    fn depend(&mut self, constant: Value, from: bool) -> Operand {
        match self.last {
            Some(last) if from => {
                let zero = self.binary(BinaryOp::Xor, last.into(), last.into());
                self.binary(BinaryOp::Add, zero.into(), constant.into()).into()
            }
            _ => constant.into(),
        }
    }

    /// The last register, or a constant.
    fn value(&mut self, value: u64, from: bool) -> Operand {
        match self.last {
            Some(last) if from => last.into(),
            _ => Value(value).into(),
        }
    }

    fn new_last(&mut self) -> Reg {
        let reg = self.function.new_reg("r");
        self.last = Some(reg);
        reg
    }

    fn statement(&mut self, stmt: &Stmt) {
        let (width, extend) = (Width::W32, Extend::Sign);
        match *stmt {
            Stmt::Load { cell, order, addr_from } => {
                let addr = self.depend(address(cell), addr_from);
                let dst = self.new_last();
                self.push(Instr::Load { dst, addr, width, extend, ann: Ann::order(order) });
            }
            Stmt::Store { cell, value, order, data_from, addr_from } => {
                let addr = self.depend(address(cell), addr_from);
                let value = self.value(value, data_from);
                self.push(Instr::Store { addr, value, width, ann: Ann::order(order) });
            }
            Stmt::Fence(fence) => self.push(Instr::Fence(fence)),
            Stmt::Swap { cell, value, read, write, data_from } => {
                let operand = self.value(value, data_from);
                self.rmw(cell, RmwOp::Exchange, operand, read, write);
            }
            Stmt::FetchAdd { cell, read, write } => self.rmw(cell, RmwOp::Add, Value(1).into(), read, write),
            Stmt::Cas { cell, expected, desired, read, write, expected_from } => {
                let expected = self.value(expected, expected_from);
                let dst = self.new_last();
                self.push(Instr::CompareExchange {
                    dst: Some(dst),
                    success: None,
                    addr: address(cell).into(),
                    width,
                    extend,
                    expected,
                    desired: Value(desired).into(),
                    read: Ann::order(read),
                    write: Ann::order(write),
                    failure: Ann::order(read),
                    weak: false,
                });
            }
            Stmt::LoadExclusive { cell, order } => {
                let dst = self.new_last();
                self.push(Instr::Load {
                    dst,
                    addr: address(cell).into(),
                    width,
                    extend,
                    ann: Ann::exclusive(order),
                });
            }
            Stmt::StoreExclusive { cell, value, order, data_from, status } => {
                let value = self.value(value, data_from);
                let status = if status { self.new_last() } else { self.function.new_reg("s") };
                let addr = address(cell).into();
                self.push(Instr::StoreExclusive {
                    status,
                    success: 0,
                    addr,
                    value,
                    width,
                    ann: Ann::exclusive(order),
                });
            }
            Stmt::Branch => {
                if let Some(last) = self.last {
                    let next = Label(self.function.next_label().0 + 1);
                    self.push(Instr::Branch { condition: last.into(), then_to: next, else_to: next });
                }
            }
            Stmt::Select => {
                if let Some(last) = self.last {
                    let dst = self.new_last();
                    self.push(Instr::Assign {
                        dst,
                        value: Rvalue::Select(last.into(), last.into(), Value(0).into()),
                    });
                }
            }
            Stmt::SkipIfZero => {}
        }
    }

    fn rmw(&mut self, cell: usize, op: RmwOp, operand: Operand, read: Order, write: Order) {
        let dst = self.new_last();
        self.push(Instr::Rmw {
            dst: Some(dst),
            addr: address(cell).into(),
            width: Width::W32,
            extend: Extend::Sign,
            op,
            operand,
            read: Ann::order(read),
            write: Ann::order(write),
        });
    }
}

/// The program that these statements mean.
pub fn program(threads: &[Vec<Stmt>], cells: usize) -> Program {
    let mut builder = Builder::new(cells);
    for statements in threads {
        let mut compiler = Compiler { function: Function::default(), last: None };
        let mut skip = None;
        for stmt in statements {
            if *stmt == Stmt::SkipIfZero && compiler.last.is_some() && skip.is_none() {
                skip = Some((compiler.function.next_label(), compiler.last));
                compiler.push(Instr::Cut);
                continue;
            }
            compiler.statement(stmt);
            close_skip(&mut compiler.function, &mut skip);
        }
        close_skip(&mut compiler.function, &mut skip);
        builder.thread().set_function(compiler.function);
    }
    builder.program()
}

fn close_skip(function: &mut Function, skip: &mut Option<(Label, Option<Reg>)>) {
    if let Some((at, Some(condition))) = skip.take() {
        let (then_to, else_to) = (Label(at.0 + 1), function.next_label());
        function.body[at.0 as usize] = Instr::Branch { condition: condition.into(), then_to, else_to };
    }
}
