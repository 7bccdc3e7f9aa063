//! The functions and macros of the Linux kernel, as its memory model knows them (`tools/memory-model/linux-kernel.def`).
//!
//! * `READ_ONCE` and the other accesses with a mark are relaxed, acquire or release; what has no mark is plain.
//! * A read-modify-write with full order is sequentially consistent here: the model puts a full fence before and behind it. One
//!   that fails, and one that returns nothing, is relaxed.
//! * Taking a spinlock waits until it reads 0 and writes 1, giving it back writes 0: so a lock is a cell like any other, and its
//!   accesses have the role of a spinlock.
//! * The functions of SRCU read their domain, and the address that `srcu_read_unlock` reads depends on the index that it is
//!   given: that is how the model pairs the two, also where the index went through memory.

use super::Body;
use super::expression::Node;
use crate::error::{Parsed, expect, expected_next};
use crate::types::Type;
use fencepost_diag::Diagnostic;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Instr, Kernel, Operand, Order, RmwOp, Role, Rvalue, Span, Until, Value,
    Width,
};

/// Functions without arguments that are fences or events of their own.
const FENCES: [(&str, Kernel); 18] = [
    ("smp_mb", Kernel::Mb),
    ("smp_rmb", Kernel::Rmb),
    ("smp_wmb", Kernel::Wmb),
    ("mb", Kernel::Mb),
    ("rmb", Kernel::Rmb),
    ("wmb", Kernel::Wmb),
    ("barrier", Kernel::Barrier),
    ("smp_mb__before_atomic", Kernel::BeforeAtomic),
    ("smp_mb__after_atomic", Kernel::AfterAtomic),
    ("smp_mb__after_spinlock", Kernel::AfterSpinlock),
    ("smp_mb__after_unlock_lock", Kernel::AfterUnlockLock),
    ("smp_mb__after_srcu_read_unlock", Kernel::AfterSrcuReadUnlock),
    ("rcu_read_lock", Kernel::RcuLock),
    ("rcu_read_unlock", Kernel::RcuUnlock),
    ("synchronize_rcu", Kernel::SyncRcu),
    ("synchronize_rcu_expedited", Kernel::SyncRcu),
    ("rcu_read_lock_sched", Kernel::RcuLock),
    ("rcu_read_unlock_sched", Kernel::RcuUnlock),
];

/// The other functions.
const OTHERS: [&str; 29] = [
    "READ_ONCE",
    "WRITE_ONCE",
    "smp_load_acquire",
    "smp_store_release",
    "smp_store_mb",
    "rcu_dereference",
    "rcu_dereference_raw",
    "rcu_dereference_protected",
    "rcu_access_pointer",
    "rcu_assign_pointer",
    "spin_lock",
    "spin_unlock",
    "spin_trylock",
    "spin_is_locked",
    "raw_spin_lock",
    "raw_spin_unlock",
    "srcu_read_lock",
    "srcu_read_unlock",
    "srcu_down_read",
    "srcu_up_read",
    "synchronize_srcu",
    "synchronize_srcu_expedited",
    "xchg",
    "cmpxchg",
    "synchronize_sched",
    "rcu_read_lock_bh",
    "rcu_read_unlock_bh",
    "mutex_lock",
    "mutex_unlock",
];

/// The arithmetic of `atomic_add`, `atomic_inc_return` and so on.
const OPERATIONS: [(&str, RmwOp, bool); 8] = [
    ("add", RmwOp::Add, false),
    ("sub", RmwOp::Sub, false),
    ("inc", RmwOp::Add, true),
    ("dec", RmwOp::Sub, true),
    ("andnot", RmwOp::Clear, false),
    ("and", RmwOp::And, false),
    ("or", RmwOp::Or, false),
    ("xor", RmwOp::Xor, false),
];

/// Whether a function is one of the kernel's.
///
/// `atomic_fetch_add` and its kin are functions of C11, too, with their arguments the other way round: see `read_modify_write`.
pub(super) fn is_kernel(name: &str) -> bool {
    let (base, _) = order_of(name);
    FENCES.iter().any(|(known, _)| *known == name) || OTHERS.contains(&base) || atomic(base).is_some()
}

/// The operation of a function that both have.
pub(super) fn fetched(base: &str) -> Option<RmwOp> {
    match atomic(base)? {
        Atomic::Modify(op, false, Returns::Old) => Some(op),
        _ => None,
    }
}

/// The name without its order, and the orders of the halves of a read-modify-write.
fn order_of(name: &str) -> (&str, (Order, Order)) {
    let strip = |suffix| name.strip_suffix(suffix);
    if let Some(base) = strip("_relaxed") {
        (base, (Order::Relaxed, Order::Relaxed))
    } else if let Some(base) = strip("_acquire").filter(|base| *base != "smp_load") {
        (base, (Order::Acquire, Order::Relaxed))
    } else if let Some(base) = strip("_release").filter(|base| *base != "smp_store") {
        (base, (Order::Relaxed, Order::Release))
    } else {
        (name, (Order::SeqCst, Order::SeqCst))
    }
}

/// What an `atomic_` function does, by its name without the type and the order.
enum Atomic {
    Read,
    Set,
    Exchange,
    CompareExchange,
    TryCompareExchange,
    AddUnless,
    NotZero,
    /// The operation, whether its operand is 1, and what it returns.
    Modify(RmwOp, bool, Returns),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    Nothing,
    Old,
    New,
    IsZero,
    IsNegative,
}

fn atomic(base: &str) -> Option<Atomic> {
    let name =
        ["atomic64_", "atomic_long_", "atomic_"].iter().find_map(|prefix| base.strip_prefix(prefix))?;
    Some(match name {
        "read" => Atomic::Read,
        "set" => Atomic::Set,
        "xchg" => Atomic::Exchange,
        "cmpxchg" => Atomic::CompareExchange,
        "try_cmpxchg" => Atomic::TryCompareExchange,
        "add_unless" => Atomic::AddUnless,
        "inc_not_zero" => Atomic::NotZero,
        _ => {
            let (name, fetches) = name.strip_prefix("fetch_").map_or((name, false), |name| (name, true));
            let (name, returns) = if fetches {
                (name, Returns::Old)
            } else if let Some(name) = name.strip_suffix("_return") {
                (name, Returns::New)
            } else if let Some(name) = name.strip_suffix("_and_test") {
                (name, Returns::IsZero)
            } else if let Some(name) = name.strip_suffix("_negative") {
                (name, Returns::IsNegative)
            } else {
                (name, Returns::Nothing)
            };
            let &(_, op, one) = OPERATIONS.iter().find(|(known, ..)| *known == name)?;
            Atomic::Modify(op, one, returns)
        }
    })
}

fn spinlock(order: Order) -> Ann {
    Ann { role: Role::Spinlock, ..Ann::order(order) }
}

impl<'a> Body<'_, 'a> {
    /// A call of a function of the kernel, after the opening parenthesis.
    pub(super) fn kernel_call(&mut self, name: &'a str, span: Span) -> Parsed<Node> {
        self.test.is_kernel = true;
        if let Some(&(_, kernel)) = FENCES.iter().find(|(known, _)| *known == name) {
            self.builder().emit(Instr::Fence(Fence::Kernel(kernel)));
            return Ok(Node::Nothing);
        }
        let (base, orders) = order_of(name);
        match base {
            "READ_ONCE" | "rcu_dereference" | "rcu_dereference_raw" | "rcu_access_pointer" => {
                let place = self.assignment()?;
                self.marked_load(place, Order::Relaxed)
            }
            "rcu_dereference_protected" => {
                let place = self.assignment()?;
                expect(self.lexer, ",")?;
                self.assignment()?;
                self.marked_load(place, Order::Plain)
            }
            "smp_load_acquire" => {
                let (addr, ty) = self.pointer_argument()?;
                self.marked_load(Node::Memory(addr, ty), Order::Acquire)
            }
            "WRITE_ONCE" | "smp_store_mb" => {
                let (place, start) = (self.assignment()?, span);
                self.marked_store(place, start, Order::Relaxed)?;
                if base == "smp_store_mb" {
                    self.builder().emit(Instr::Fence(Fence::Kernel(Kernel::Mb)));
                }
                Ok(Node::Nothing)
            }
            "rcu_assign_pointer" => {
                let place = self.assignment()?;
                self.marked_store(place, span, Order::Release)
            }
            "smp_store_release" => {
                let (addr, ty) = self.pointer_argument()?;
                self.marked_store(Node::Memory(addr, ty), span, Order::Release)
            }
            "spin_lock" | "raw_spin_lock" | "mutex_lock" => self.take_lock(),
            "spin_unlock" | "raw_spin_unlock" | "mutex_unlock" => {
                let (addr, _) = self.pointer_argument()?;
                let (value, width) = (Value::ZERO.into(), Width::W32);
                self.builder().emit(Instr::Store { addr, value, width, ann: spinlock(Order::Release) });
                Ok(Node::Nothing)
            }
            "spin_trylock" => {
                let (addr, _) = self.pointer_argument()?;
                let (read, write) = (spinlock(Order::Acquire), spinlock(Order::Relaxed));
                let (free, taken) = (Value::ZERO.into(), Value(1).into());
                let (_, success) = self.exchange_if(addr, Type::INT, (free, taken), (read, write));
                Ok(Node::Value(success, Type::INT))
            }
            "spin_is_locked" => {
                let (addr, _) = self.pointer_argument()?;
                let (dst, width, extend) = (self.temporary(), Width::W32, Extend::Sign);
                self.builder().emit(Instr::Load { dst, addr, width, extend, ann: spinlock(Order::Relaxed) });
                Ok(Node::Value(dst.into(), Type::INT))
            }
            "srcu_read_lock" | "srcu_down_read" => self.domain(Role::SrcuLock),
            "srcu_read_unlock" | "srcu_up_read" => self.domain(Role::SrcuUnlock),
            "synchronize_srcu" | "synchronize_srcu_expedited" => self.domain(Role::SyncSrcu),
            "xchg" => self.exchange(orders),
            "cmpxchg" => self.compare_and_exchange(orders),
            _ => match atomic(base) {
                Some(atomic) => self.atomic_function(atomic, orders),
                None => {
                    let message = format!("`{name}` is not part of the kernel's memory model");
                    Err(Box::new(Diagnostic::error(span, message).label("not modelled")))
                }
            },
        }
    }

    /// `READ_ONCE(*x)`; of a local it is its value.
    fn marked_load(&mut self, place: Node, order: Order) -> Parsed<Node> {
        let Node::Memory(addr, ty) = place else {
            let (value, ty) = self.read(place)?;
            return Ok(Node::Value(value, ty));
        };
        let dst = self.temporary();
        let (width, extend) = (ty.width(), ty.extend());
        self.builder().emit(Instr::Load { dst, addr, width, extend, ann: Ann::order(order) });
        Ok(Node::Value(dst.into(), ty))
    }

    fn marked_store(&mut self, place: Node, span: Span, order: Order) -> Parsed<Node> {
        let Node::Memory(addr, ty) = place else {
            let error = Diagnostic::error(span, "this does not name a shared location");
            return Err(Box::new(error.label("expected `*x` as the first argument")));
        };
        let value = self.value_argument(ty)?;
        self.builder().emit(Instr::Store { addr, value, width: ty.width(), ann: Ann::order(order) });
        Ok(Node::Nothing)
    }

    fn take_lock(&mut self) -> Parsed<Node> {
        let (addr, _) = self.pointer_argument()?;
        self.builder().emit(Instr::AwaitRmw {
            dst: None,
            addr,
            width: Width::W32,
            extend: Extend::Sign,
            until: Until { op: BinaryOp::Eq, operand: Value::ZERO.into() },
            op: RmwOp::Exchange,
            operand: Value(1).into(),
            read: spinlock(Order::Acquire),
            write: spinlock(Order::Relaxed),
        });
        Ok(Node::Nothing)
    }

    /// A function of SRCU: a read of its domain. The address of an unlock depends on the index.
    fn domain(&mut self, role: Role) -> Parsed<Node> {
        let (mut addr, _) = self.pointer_argument()?;
        if role == Role::SrcuUnlock {
            expect(self.lexer, ",")?;
            let (index, _) = self.assignment_value()?;
            let wide = |op, a, b| Rvalue::Binary(op, Width::W64, Extend::Zero, a, b);
            let nothing = self.compute(wide(BinaryOp::And, index, Value::ZERO.into()));
            addr = self.compute(wide(BinaryOp::Add, addr, nothing));
        }
        let dst = self.temporary();
        let (width, extend) = (Width::W32, Extend::Sign);
        let ann = Ann { role, ..Ann::order(Order::Relaxed) };
        self.builder().emit(Instr::Load { dst, addr, width, extend, ann });
        match role {
            Role::SrcuLock => Ok(Node::Value(dst.into(), Type::INT)),
            _ => Ok(Node::Nothing),
        }
    }

    pub(super) fn modify(
        &mut self,
        (addr, ty): (Operand, Type),
        op: RmwOp,
        operand: Operand,
        (read, write): (Ann, Ann),
    ) -> Operand {
        let dst = (!read.no_return).then(|| self.temporary());
        let (width, extend) = (ty.width(), ty.extend());
        self.builder().emit(Instr::Rmw { dst, addr, width, extend, op, operand, read, write });
        dst.map_or(Value::ZERO.into(), Operand::Reg)
    }

    fn exchange(&mut self, (read, write): (Order, Order)) -> Parsed<Node> {
        let (addr, ty) = self.pointer_argument()?;
        let operand = self.value_argument(ty)?;
        let old = self.modify((addr, ty), RmwOp::Exchange, operand, (Ann::order(read), Ann::order(write)));
        Ok(Node::Value(old, ty))
    }

    /// The old value, and whether it was exchanged.
    fn exchange_if(
        &mut self,
        addr: Operand,
        ty: Type,
        (expected, desired): (Operand, Operand),
        (read, write): (Ann, Ann),
    ) -> (Operand, Operand) {
        let (old, success) = (self.temporary(), self.temporary());
        let (width, extend, failure) = (ty.width(), ty.extend(), Ann { order: Order::Relaxed, ..read });
        self.builder().emit(Instr::CompareExchange {
            dst: Some(old),
            success: Some(success),
            addr,
            width,
            extend,
            expected,
            desired,
            read,
            write,
            failure,
            weak: false,
        });
        (old.into(), success.into())
    }

    /// `cmpxchg(x, old, new)`: what was there.
    fn compare_and_exchange(&mut self, (read, write): (Order, Order)) -> Parsed<Node> {
        let (addr, ty) = self.pointer_argument()?;
        let expected = self.value_argument(ty)?;
        let desired = self.value_argument(ty)?;
        let anns = (Ann::order(read), Ann::order(write));
        let (old, _) = self.exchange_if(addr, ty, (expected, desired), anns);
        Ok(Node::Value(old, ty))
    }

    fn atomic_function(&mut self, atomic: Atomic, orders: (Order, Order)) -> Parsed<Node> {
        let anns = (Ann::order(orders.0), Ann::order(orders.1));
        match atomic {
            Atomic::Read => {
                let (addr, ty) = self.pointer_argument()?;
                let order = if orders.0 == Order::SeqCst { Order::Relaxed } else { orders.0 };
                self.marked_load(Node::Memory(addr, ty), order)
            }
            Atomic::Set => {
                let ((addr, ty), span) = (self.pointer_argument()?, self.builder().span);
                let order = if orders.1 == Order::SeqCst { Order::Relaxed } else { orders.1 };
                self.marked_store(Node::Memory(addr, ty), span, order)
            }
            Atomic::Exchange => self.exchange(orders),
            Atomic::CompareExchange => self.compare_and_exchange(orders),
            Atomic::TryCompareExchange => {
                let (addr, ty) = self.pointer_argument()?;
                expect(self.lexer, ",")?;
                let node = self.assignment()?;
                let Node::LocalAddress(index) = node else {
                    return Err(expected_next(self.lexer, "the address of a local variable before this"));
                };
                let desired = self.value_argument(ty)?;
                let local = self.locals[index].reg;
                let (old, success) = self.exchange_if(addr, ty, (local.into(), desired), anns);
                self.builder().assign(local, Rvalue::Use(old));
                Ok(Node::Value(success, Type::INT))
            }
            Atomic::AddUnless => {
                let (addr, ty) = self.pointer_argument()?;
                let operand = self.value_argument(ty)?;
                let unless = self.value_argument(ty)?;
                self.add_unless((addr, ty), operand, unless, anns)
            }
            Atomic::NotZero => {
                let (addr, ty) = self.pointer_argument()?;
                self.add_unless((addr, ty), Value(1).into(), Value::ZERO.into(), anns)
            }
            Atomic::Modify(op, one, returns) => {
                let (operand, from) = match one {
                    true => (Value(1).into(), Type::INT),
                    false => {
                        let value = self.assignment_value()?;
                        expect(self.lexer, ",")?;
                        value
                    }
                };
                let (addr, ty) = self.pointer_argument()?;
                let operand = self.convert(operand, from, ty);
                let anns = match returns {
                    Returns::Nothing => {
                        (Ann { no_return: true, ..Ann::order(Order::Relaxed) }, Ann::order(Order::Relaxed))
                    }
                    _ => anns,
                };
                let old = self.modify((addr, ty), op, operand, anns);
                self.result((op, operand, old, ty), returns)
            }
        }
    }

    /// What an operation returns.
    fn result(
        &mut self,
        (op, operand, old, ty): (RmwOp, Operand, Operand, Type),
        returns: Returns,
    ) -> Parsed<Node> {
        let operator = match op {
            RmwOp::Sub => BinaryOp::Sub,
            RmwOp::And | RmwOp::Clear => BinaryOp::And,
            RmwOp::Or => BinaryOp::Or,
            RmwOp::Xor => BinaryOp::Xor,
            _ => BinaryOp::Add,
        };
        let new = |body: &mut Self| {
            let operand = match op {
                RmwOp::Clear => {
                    let not = fencepost_ir::UnaryOp::Not;
                    body.compute(Rvalue::Unary(not, ty.width(), ty.extend(), operand))
                }
                _ => operand,
            };
            body.compute(Rvalue::Binary(operator, ty.width(), ty.extend(), old, operand))
        };
        let compared = |body: &mut Self, op| {
            let value = new(body);
            let zero = Value::ZERO.into();
            Node::Value(body.compute(Rvalue::Binary(op, ty.width(), Extend::Zero, value, zero)), Type::INT)
        };
        Ok(match returns {
            Returns::Nothing => Node::Nothing,
            Returns::Old => Node::Value(old, ty),
            Returns::New => Node::Value(new(self), ty),
            Returns::IsZero => compared(self, BinaryOp::Eq),
            Returns::IsNegative => compared(self, BinaryOp::LtS),
        })
    }

    /// Adds unless a value is there, and says whether it did: in a loop, as the kernel has it.
    fn add_unless(
        &mut self,
        (addr, ty): (Operand, Type),
        operand: Operand,
        unless: Operand,
        (read, write): (Ann, Ann),
    ) -> Parsed<Node> {
        let (width, extend) = (ty.width(), ty.extend());
        let (old, result) = (self.temporary(), self.temporary());
        let found = self.temporary();
        // What is there is guessed by a read that the exchange then confirms.
        let ann = Ann::order(Order::Relaxed);
        self.builder().emit(Instr::Load { dst: old, addr, width, extend, ann });
        let differs = Rvalue::Binary(BinaryOp::Ne, width, Extend::Zero, old.into(), unless);
        self.builder().assign(result, differs);
        let branch = self.builder().emit_open(Some(result.into()));
        let new = self.compute(Rvalue::Binary(BinaryOp::Add, width, extend, old.into(), operand));
        self.builder().emit(Instr::CompareExchange {
            dst: None,
            success: Some(found),
            addr,
            width,
            extend,
            expected: old.into(),
            desired: new,
            read,
            write,
            failure: ann,
            weak: false,
        });
        self.builder().emit(Instr::Assume(found.into()));
        let end = self.next_label();
        self.builder().patch(branch, end);
        Ok(Node::Value(result.into(), Type::INT))
    }
}
