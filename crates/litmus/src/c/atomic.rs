//! The functions of `stdatomic.h`.
//!
//! Without `_explicit` an operation is sequentially consistent. A read-modify-write with acquire-release ordering has
//! an acquire read and a release write. A compare-exchange reads its expected value plainly, from a local or from a
//! shared location, and on failure plainly writes back what it found; a weak one may fail for no reason. All this is
//! as in herd7.

use super::Body;
use super::expression::Node;
use super::kernel;
use crate::error::{Parsed, expect, expected, expected_next, suggest};
use crate::types::Type;
use fencepost_diag::Diagnostic;
use fencepost_ir::{Ann, Fence, Instr, Operand, Order, Reg, RmwOp, Rvalue, Span, Value};

/// The functions, without `_explicit`; for "did you mean".
const FUNCTIONS: [&str; 15] = [
    "atomic_load",
    "atomic_store",
    "atomic_exchange",
    "atomic_fetch_add",
    "atomic_fetch_sub",
    "atomic_fetch_and",
    "atomic_fetch_or",
    "atomic_fetch_xor",
    "atomic_compare_exchange_strong",
    "atomic_compare_exchange_weak",
    "atomic_thread_fence",
    "atomic_signal_fence",
    "atomic_flag_test_and_set",
    "atomic_flag_clear",
    "atomic_init",
];

const ORDERS: [(&str, Order); 6] = [
    ("memory_order_relaxed", Order::Relaxed),
    ("memory_order_consume", Order::Consume),
    ("memory_order_acquire", Order::Acquire),
    ("memory_order_release", Order::Release),
    ("memory_order_acq_rel", Order::AcqRel),
    ("memory_order_seq_cst", Order::SeqCst),
];

/// The orders of the read and of the write of a read-modify-write.
fn split(order: Order) -> (Ann, Ann) {
    let (read, write) = match order {
        Order::AcqRel => (Order::Acquire, Order::Release),
        Order::Acquire => (Order::Acquire, Order::Relaxed),
        Order::Consume => (Order::Consume, Order::Relaxed),
        Order::Release => (Order::Relaxed, Order::Release),
        order => (order, order),
    };
    (Ann::order(read), Ann::order(write))
}

/// A call while its arguments are read.
struct Call {
    /// It ends with `_explicit`: memory orders are given.
    explicit: bool,
    span: Span,
}

impl<'a> Body<'_, 'a> {
    /// A call; the lexer stands at the opening parenthesis.
    pub(super) fn call(&mut self, name: &'a str, span: Span) -> Parsed<Node> {
        let base = name.strip_suffix("_explicit").unwrap_or(name);
        let call = Call { explicit: base != name, span };
        if kernel::is_kernel(name) && !FUNCTIONS.contains(&name) {
            let outer = std::mem::replace(&mut self.builder().span, span);
            let first = self.builder().function.spans.len();
            expect(self.lexer, "(")?;
            let node = self.kernel_call(name, span)?;
            return self.end_of_call(name, node, (span, outer, first));
        }
        if !FUNCTIONS.contains(&base) {
            return Err(unknown_function(name, span));
        }
        let outer = std::mem::replace(&mut self.builder().span, span);
        let first = self.builder().function.spans.len();
        expect(self.lexer, "(")?;
        let node = match base {
            "atomic_load" => self.atomic_load(&call)?,
            "atomic_store" | "atomic_flag_clear" => self.atomic_store(&call, base == "atomic_flag_clear")?,
            "atomic_init" => {
                let (addr, ty) = self.pointer_argument()?;
                let value = self.value_argument(ty)?;
                self.builder().emit(Instr::Store { addr, value, width: ty.width(), ann: Ann::PLAIN });
                Node::Nothing
            }
            "atomic_thread_fence" | "atomic_signal_fence" => {
                let (order, _) = self.order_name()?;
                let fence = if base == "atomic_thread_fence" { Fence::C11(order) } else { Fence::Compiler };
                self.builder().emit(Instr::Fence(fence));
                Node::Nothing
            }
            "atomic_compare_exchange_strong" => self.compare_exchange(&call, false)?,
            "atomic_compare_exchange_weak" => self.compare_exchange(&call, true)?,
            _ => self.read_modify_write(&call, base)?,
        };
        self.end_of_call(name, node, (span, outer, first))
    }

    fn end_of_call(
        &mut self,
        name: &str,
        node: Node,
        (span, outer, first): (Span, Span, usize),
    ) -> Parsed<Node> {
        if !self.lexer.at(")") {
            return Err(expected_next(self.lexer, &format!("`)` after the arguments of `{name}`")));
        }
        self.lexer.next();
        let end = self.lexer.position();
        self.builder().widen_spans(first, span.start, end);
        self.builder().span = outer;
        Ok(node)
    }

    /// The address argument and the type of what it points to.
    pub(super) fn pointer_argument(&mut self) -> Parsed<(Operand, Type)> {
        let start = self.lexer.peek();
        let (addr, ty) = self.assignment_value()?;
        if !ty.is_pointer() {
            return Err(not_an_address(start.span()));
        }
        Ok((addr, ty.pointee()))
    }

    /// A comma and a value of this type.
    pub(super) fn value_argument(&mut self, ty: Type) -> Parsed<Operand> {
        expect(self.lexer, ",")?;
        let (value, from) = self.assignment_value()?;
        Ok(self.convert(value, from, ty))
    }

    /// A comma and a memory order if the call is explicit.
    fn order_argument(&mut self, call: &Call) -> Parsed<(Order, Span)> {
        if !call.explicit {
            return Ok((Order::SeqCst, call.span));
        }
        expect(self.lexer, ",")?;
        self.order_name()
    }

    fn order_name(&mut self) -> Parsed<(Order, Span)> {
        let token = self.lexer.next();
        let name = self.lexer.text(token);
        if let Some((_, order)) = ORDERS.iter().find(|(known, _)| *known == name) {
            return Ok((*order, token.span()));
        }
        let error = expected(self.lexer, token, "a memory order such as `memory_order_relaxed`");
        Err(suggest(error, name, ORDERS.map(|(known, _)| known)))
    }

    fn atomic_load(&mut self, call: &Call) -> Parsed<Node> {
        let (addr, ty) = self.pointer_argument()?;
        let (order, span) = self.order_argument(call)?;
        if matches!(order, Order::Release | Order::AcqRel) {
            return Err(bad_order(span, "a load", "releases"));
        }
        let dst = self.temporary();
        let (width, extend) = (ty.width(), ty.extend());
        self.builder().emit(Instr::Load { dst, addr, width, extend, ann: Ann::order(order) });
        Ok(Node::Value(dst.into(), ty))
    }

    fn atomic_store(&mut self, call: &Call, clears: bool) -> Parsed<Node> {
        let (addr, ty) = self.pointer_argument()?;
        let value = if clears { Value::ZERO.into() } else { self.value_argument(ty)? };
        let (order, span) = self.order_argument(call)?;
        if matches!(order, Order::Acquire | Order::AcqRel | Order::Consume) {
            return Err(bad_order(span, "a store", "acquires"));
        }
        let width = ty.width();
        self.builder().emit(Instr::Store { addr, value, width, ann: Ann::order(order) });
        Ok(Node::Nothing)
    }

    fn read_modify_write(&mut self, call: &Call, base: &str) -> Parsed<Node> {
        let start = self.lexer.peek();
        let (first, first_type) = self.assignment_value()?;
        if let Some(op) = kernel::fetched(base).filter(|_| !call.explicit && !first_type.is_pointer()) {
            // The Linux kernel gives the operand first.
            self.test.is_kernel = true;
            expect(self.lexer, ",")?;
            let (addr, ty) = self.pointer_argument()?;
            let operand = self.convert(first, first_type, ty);
            let ann = Ann::order(Order::SeqCst);
            return Ok(Node::Value(self.modify((addr, ty), op, operand, (ann, ann)), ty));
        }
        if !first_type.is_pointer() {
            return Err(not_an_address(start.span()));
        }
        let (addr, ty) = (first, first_type.pointee());
        let op = match base {
            "atomic_fetch_add" => RmwOp::Add,
            "atomic_fetch_sub" => RmwOp::Sub,
            "atomic_fetch_and" => RmwOp::And,
            "atomic_fetch_or" => RmwOp::Or,
            "atomic_fetch_xor" => RmwOp::Xor,
            _ => RmwOp::Exchange,
        };
        let sets_flag = base == "atomic_flag_test_and_set";
        let operand = if sets_flag { Value(1).into() } else { self.value_argument(ty)? };
        let (order, _) = self.order_argument(call)?;
        let (read, write) = split(order);
        let dst = self.temporary();
        let (width, extend) = (ty.width(), ty.extend());
        self.builder().emit(Instr::Rmw { dst: Some(dst), addr, width, extend, op, operand, read, write });
        Ok(Node::Value(dst.into(), ty))
    }

    fn compare_exchange(&mut self, call: &Call, weak: bool) -> Parsed<Node> {
        let (addr, ty) = self.pointer_argument()?;
        expect(self.lexer, ",")?;
        let start = self.lexer.peek();
        let node = self.assignment()?;
        let desired = self.value_argument(ty)?;
        let (success_order, _) = self.order_argument(call)?;
        let (failure_order, span) =
            if call.explicit { self.order_argument(call)? } else { (Order::SeqCst, call.span) };
        if matches!(failure_order, Order::Release | Order::AcqRel) {
            return Err(bad_order(span, "a failing compare-exchange only loads, and a load", "releases"));
        }
        let (width, extend) = (ty.width(), ty.extend());
        let place = self.expected_place(node, ty, start.span())?;
        let expected = match place {
            ExpectedPlace::Local(reg) => reg.into(),
            ExpectedPlace::Memory(addr) => {
                let dst = self.temporary();
                self.builder().emit(Instr::Load { dst, addr, width, extend, ann: Ann::PLAIN });
                dst.into()
            }
        };
        let (old, success) = (self.temporary(), self.temporary());
        let (read, write) = split(success_order);
        let failure = Ann::order(failure_order);
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
            weak,
        });
        match place {
            // On success the two are equal, so the assignment needs no condition.
            ExpectedPlace::Local(reg) => self.builder().assign(reg, Rvalue::Use(old.into())),
            ExpectedPlace::Memory(addr) => {
                let branch = self.builder().emit_open(Some(success.into()));
                let failed = self.next_label();
                self.builder().emit(Instr::Store { addr, value: old.into(), width, ann: Ann::PLAIN });
                let end = self.next_label();
                self.builder().patch_then(branch, end);
                self.builder().patch(branch, failed);
            }
        }
        Ok(Node::Value(success.into(), Type::INT))
    }

    fn expected_place(&mut self, node: Node, ty: Type, span: Span) -> Parsed<ExpectedPlace> {
        if let Node::LocalAddress(index) = node {
            let local = self.locals[index];
            if local.ty.width() != ty.width() {
                let message = format!("`{}` has another size than the location", local.name);
                return Err(Box::new(Diagnostic::error(span, message).label("expected the same type")));
            }
            return Ok(ExpectedPlace::Local(local.reg));
        }
        let (addr, pointer) = self.read(node)?;
        if !pointer.is_pointer() {
            let error = Diagnostic::error(span, "the expected value is given by its address");
            return Err(Box::new(
                error.label("expected an address").hint("write `&r1` for a local `r1`, or name a location"),
            ));
        }
        Ok(ExpectedPlace::Memory(addr))
    }
}

/// Where a compare-exchange finds its expected value.
#[derive(Clone, Copy, Debug)]
enum ExpectedPlace {
    Local(Reg),
    Memory(Operand),
}

fn not_an_address(span: Span) -> Box<Diagnostic> {
    let error = Diagnostic::error(span, "this is not the address of a shared location");
    Box::new(error.label("expected a parameter such as `x`, or `&x[1]`"))
}

fn bad_order(span: Span, what: &str, does: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, format!("{what} never {does}")).label("not an order for this operation"))
}

fn unknown_function(name: &str, span: Span) -> Box<Diagnostic> {
    let error =
        Box::new(Diagnostic::error(span, format!("unknown function `{name}`")).label("not known here"));
    let explicit = FUNCTIONS.map(|f| format!("{f}_explicit"));
    suggest(error, name, FUNCTIONS.into_iter().chain(explicit.iter().map(String::as_str)))
}
