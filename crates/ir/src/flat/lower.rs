//! Makes small operations of one instruction.

use super::objects::{Env, Known, Private, operand};
use super::unroll::{Layout, rebase};
use super::{Op, Unsupported};
use crate::fence::Fence;
use crate::program::{
    BinaryOp, Extend, FailKind, Instr, Object, ObjectId, Operand, Reg, RmwOp, Rvalue, UnaryOp, Until, Width,
};
use crate::value::Value;

/// What reading a cell without a value is.
const WRONG: Option<FailKind> = Some(FailKind::Assertion);

const ZERO: Operand = Operand::Const(Value::ZERO);

/// What a memory access is.
#[derive(Clone, Copy)]
struct Access {
    addr: Operand,
    width: Width,
    extend: Extend,
}

impl Layout<'_, '_> {
    pub(super) fn lower(&mut self, instr: &Instr, base: u32, env: &mut Env) -> Result<(), Unsupported> {
        let reg = |reg: Reg| Reg(reg.0 + base);
        let op = |operand: Operand| rebase(operand, base);
        match *instr {
            Instr::Assign { dst, value } => self.assign(reg(dst), rebase_value(value, base), env),
            Instr::Load { dst, addr, width, extend, ann } => {
                self.load(reg(dst), Access { addr: op(addr), width, extend }, ann.exclusive, WRONG, env)?;
            }
            Instr::CopyLoad { dst, addr, width, extend, keeps, .. } => {
                // Undefined values have no place here: where one would be copied the answer is not known.
                let unknown = keeps.then_some(FailKind::Unsupported);
                self.load(reg(dst), Access { addr: op(addr), width, extend }, false, unknown, env)?;
            }
            Instr::Store { addr, value, width, .. } => {
                self.store(op(addr), op(value), width, false, env)?;
            }
            Instr::StoreExclusive { status, success, addr, value, width, .. } => {
                let choice = self.new_reg();
                self.emit(Op::Nondet { dst: choice, first: 0, last: 1 });
                let branch = self.emit(Op::Branch { condition: choice.into(), other: 0 });
                self.store(op(addr), op(value), width, true, env)?;
                self.ends_here(branch);
                let (yes, no) = (Value(u64::from(success)), Value(1 - u64::from(success)));
                self.set(reg(status), Rvalue::Select(choice.into(), yes.into(), no.into()), env);
            }
            Instr::Rmw { dst, addr, width, extend, op: rmw, operand, .. } => {
                let access = Access { addr: op(addr), width, extend };
                self.atomic(dst.map(reg), access, None, rmw, op(operand), env)?;
            }
            Instr::AwaitRmw { dst, addr, width, extend, until, op: rmw, operand, .. } => {
                let access = Access { addr: op(addr), width, extend };
                let until = Until { op: until.op, operand: op(until.operand) };
                self.atomic(dst.map(reg), access, Some(until), rmw, op(operand), env)?;
            }
            Instr::Await { dst, addr, width, extend, until, .. } => {
                let old = self.new_reg();
                self.load(old, Access { addr: op(addr), width, extend: Extend::Zero }, false, WRONG, env)?;
                self.wait(old, width, Until { op: until.op, operand: op(until.operand) }, env);
                if let Some(dst) = dst {
                    self.extend(reg(dst), old, width, extend, env);
                }
            }
            Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
                let access = Access { addr: op(addr), width, extend };
                let registers = (dst.map(reg), success.map(reg));
                self.compare_exchange(registers, access, op(expected), op(desired), env)?;
            }
            Instr::Lock(addr) => self.lock(op(addr), env)?,
            Instr::Unlock(addr) => self.unlock(op(addr), env)?,
            Instr::TryLock { dst, addr } => {
                let access = Access { addr: op(addr), width: Width::W32, extend: Extend::Zero };
                let owner = Operand::Const(Value(self.thread as u64 + 1));
                self.compare_exchange((None, Some(reg(dst))), access, ZERO, owner, env)?;
            }
            Instr::Fence(Fence::Compiler) | Instr::Round(_) | Instr::Defined(_) => {}
            Instr::Fence(fence) => {
                self.emit(Op::Fence(fence));
            }
            Instr::Assume(condition) => {
                self.emit(Op::Assume(op(condition)));
            }
            Instr::Assert { condition, kind, ref message } => {
                self.emit(Op::Assert { condition: op(condition), kind, message: message.clone() });
            }
            Instr::Fail { kind, ref message } => {
                self.emit(Op::Assert { condition: ZERO, kind, message: message.clone() });
            }
            Instr::Nondet { dst, first, last } => {
                env.remove(&reg(dst).0);
                self.emit(Op::Nondet { dst: reg(dst), first, last });
            }
            Instr::SelfThread { dst } => {
                self.set(reg(dst), Rvalue::Use(Value(self.thread as u64).into()), env);
            }
            Instr::Join { thread, dst } => {
                if let Some(dst) = dst {
                    env.remove(&reg(dst).0);
                }
                let thread = match operand(env, op(thread)) {
                    Some(Known::Value(value)) => value.into(),
                    _ => op(thread),
                };
                self.emit(Op::Join { thread, dst: dst.map(reg) });
            }
            Instr::Local { dst, ref object, private } => self.local(reg(dst), object, private, env),
            Instr::EndLocal(_) => {}
            Instr::ThreadLocal { dst, object } => {
                let copy = self.thread_copy(object);
                self.set(reg(dst), Rvalue::Use(Value::pointer(copy, 0).into()), env);
            }
            Instr::ObjectSize { dst, addr } => {
                let size = match operand(env, op(addr)) {
                    Some(Known::Value(value)) => match value.as_pointer() {
                        Some((object, _)) => self.size_of(object),
                        None => Some(0),
                    },
                    Some(Known::Into(object)) => self.size_of(object),
                    _ => None,
                };
                let size = size.ok_or_else(|| self.unsupported("the size of what a pointer points to"))?;
                self.set(reg(dst), Rvalue::Use(Value(u64::from(size)).into()), env);
            }
            Instr::AtomicBegin => {
                self.emit(Op::AtomicBegin);
            }
            Instr::AtomicEnd => {
                self.emit(Op::AtomicEnd);
            }
            Instr::Alloc { dst, size, zeroed } => {
                let Some(Known::Value(size)) = operand(env, op(size)) else {
                    return Err(self.unsupported("memory of a size that is not known in advance"));
                };
                let size = u32::try_from(size.0).map_err(|_| self.unsupported("so much memory"))?;
                let id = ObjectId(self.shared.objects.len() as u32);
                let name = format!("malloc#{}", self.shared.allocated.len() + 1);
                let (cells, span) = (Vec::new(), self.span);
                self.shared.objects.push(Object { name, size, cells, span, constant: false });
                self.shared.allocated.push((id.0, zeroed, span));
                self.set(reg(dst), Rvalue::Use(Value::pointer(id, 0).into()), env);
            }
            // Nothing is allocated twice: what was freed stays as it is.
            Instr::Free(_) => {}
            Instr::Jump(_)
            | Instr::Branch { .. }
            | Instr::Call { .. }
            | Instr::Return(_)
            | Instr::Spawn { .. }
            | Instr::Exit(_)
            | Instr::Halt
            | Instr::Cut => {}
        }
        Ok(())
    }

    fn unsupported(&self, what: &str) -> Unsupported {
        Unsupported { what: what.into(), span: self.span }
    }

    fn size_of(&self, object: ObjectId) -> Option<u32> {
        let private = self.shared.private.get(&object.0).map(|private| private.object.size);
        private.or_else(|| self.shared.objects.get(object.0 as usize).map(|object| object.size))
    }

    /// The branch at a step goes to the next step to be laid out if its condition is zero.
    pub(super) fn ends_here(&mut self, branch: usize) {
        let here = self.code.len() as u32;
        if let Op::Branch { other, .. } = &mut self.code[branch].op {
            *other = here;
        }
    }

    /// An assignment; a divisor that is zero is a finding.
    fn assign(&mut self, dst: Reg, value: Rvalue, env: &mut Env) {
        if let Rvalue::Binary(op, width, _, _, divisor) = value
            && matches!(op, BinaryOp::DivU | BinaryOp::DivS | BinaryOp::RemU | BinaryOp::RemS)
        {
            let safe = match operand(env, divisor) {
                Some(Known::Value(value)) => width.zero_extend(value).is_true(),
                _ => false,
            };
            if !safe {
                let nonzero = self.new_reg();
                let test = Rvalue::Binary(BinaryOp::Ne, width, Extend::Zero, divisor, ZERO);
                self.set(nonzero, test, env);
                let message = "a division by zero".into();
                self.emit(Op::Assert { condition: nonzero.into(), kind: FailKind::Assertion, message });
            }
        }
        self.set(dst, value, env);
    }

    fn extend(&mut self, dst: Reg, value: Reg, width: Width, extend: Extend, env: &mut Env) {
        let op = match extend {
            Extend::Zero => UnaryOp::ZeroExtend,
            Extend::Sign => UnaryOp::SignExtend,
        };
        self.set(dst, Rvalue::Unary(op, width, extend, value.into()), env);
    }

    fn wait(&mut self, value: Reg, width: Width, until: Until, env: &mut Env) {
        let over = self.new_reg();
        self.set(over, Rvalue::Binary(until.op, width, Extend::Zero, value.into(), until.operand), env);
        self.emit(Op::Assume(over.into()));
    }

    /// A read-modify-write, waiting or not.
    fn atomic(
        &mut self,
        dst: Option<Reg>,
        access: Access,
        until: Option<Until>,
        rmw: RmwOp,
        operand: Operand,
        env: &mut Env,
    ) -> Result<(), Unsupported> {
        let (old, new) = (self.new_reg(), self.new_reg());
        self.load(old, Access { extend: Extend::Zero, ..access }, true, WRONG, env)?;
        if let Some(until) = until {
            self.wait(old, access.width, until, env);
        }
        self.modify(new, rmw, access.width, old.into(), operand, env);
        self.store(access.addr, new.into(), access.width, true, env)?;
        if let Some(dst) = dst {
            self.extend(dst, old, access.width, access.extend, env);
        }
        Ok(())
    }

    /// `new = op(old, operand)`; an exchange does not depend on the old value.
    fn modify(&mut self, new: Reg, rmw: RmwOp, width: Width, old: Operand, operand: Operand, env: &mut Env) {
        let binary = |op| Rvalue::Binary(op, width, Extend::Zero, old, operand);
        let complement = |value| Rvalue::Unary(UnaryOp::Not, width, Extend::Zero, value);
        match rmw {
            RmwOp::Exchange => {
                self.set(new, Rvalue::Unary(UnaryOp::ZeroExtend, width, Extend::Zero, operand), env);
            }
            RmwOp::Add => self.set(new, binary(BinaryOp::Add), env),
            RmwOp::Sub => self.set(new, binary(BinaryOp::Sub), env),
            RmwOp::And => self.set(new, binary(BinaryOp::And), env),
            RmwOp::Or => self.set(new, binary(BinaryOp::Or), env),
            RmwOp::Xor => self.set(new, binary(BinaryOp::Xor), env),
            RmwOp::Nand => {
                self.set(new, binary(BinaryOp::And), env);
                self.set(new, complement(new.into()), env);
            }
            RmwOp::Clear => {
                let mask = self.new_reg();
                self.set(mask, complement(operand), env);
                self.set(new, Rvalue::Binary(BinaryOp::And, width, Extend::Zero, old, mask.into()), env);
            }
            RmwOp::MaxS | RmwOp::MinS | RmwOp::MaxU | RmwOp::MinU => {
                let compare = match rmw {
                    RmwOp::MaxS => BinaryOp::GtS,
                    RmwOp::MinS => BinaryOp::LtS,
                    RmwOp::MaxU => BinaryOp::GtU,
                    _ => BinaryOp::LtU,
                };
                let (keeps, narrow) = (self.new_reg(), self.new_reg());
                self.set(narrow, Rvalue::Unary(UnaryOp::ZeroExtend, width, Extend::Zero, operand), env);
                self.set(keeps, binary(compare), env);
                self.set(new, Rvalue::Select(keeps.into(), old, narrow.into()), env);
            }
        }
    }

    fn compare_exchange(
        &mut self,
        (dst, success): (Option<Reg>, Option<Reg>),
        access: Access,
        expected: Operand,
        desired: Operand,
        env: &mut Env,
    ) -> Result<(), Unsupported> {
        let (old, same) = (self.new_reg(), self.new_reg());
        self.load(old, Access { extend: Extend::Zero, ..access }, true, WRONG, env)?;
        self.set(same, Rvalue::Binary(BinaryOp::Eq, access.width, Extend::Zero, old.into(), expected), env);
        match operand(env, same.into()) {
            Some(Known::Value(value)) if !value.is_true() => {}
            Some(Known::Value(_)) => self.store(access.addr, desired, access.width, true, env)?,
            _ => {
                let branch = self.emit(Op::Branch { condition: same.into(), other: 0 });
                // What is known about private memory after the store may not hold without it.
                let mut stored = env.clone();
                self.store(access.addr, desired, access.width, true, &mut stored)?;
                let private = &self.shared.private;
                super::objects::merge(env, &stored, |object| private.contains_key(&object.0));
                self.ends_here(branch);
                if self.code.len() == branch + 1 {
                    self.emit(Op::Skip);
                }
            }
        }
        if let Some(success) = success {
            self.set(success, Rvalue::Use(same.into()), env);
        }
        if let Some(dst) = dst {
            self.extend(dst, old, access.width, access.extend, env);
        }
        // The last step must be one that goes on to the next instruction.
        self.emit(Op::Skip);
        Ok(())
    }

    fn lock(&mut self, addr: Operand, env: &mut Env) -> Result<(), Unsupported> {
        let access = Access { addr, width: Width::W32, extend: Extend::Zero };
        let until = Until { op: BinaryOp::Eq, operand: ZERO };
        let owner = Operand::Const(Value(self.thread as u64 + 1));
        self.atomic(None, access, Some(until), RmwOp::Exchange, owner, env)
    }

    fn unlock(&mut self, addr: Operand, env: &mut Env) -> Result<(), Unsupported> {
        if self.shared.options.owners {
            let (held, same) = (self.new_reg(), self.new_reg());
            self.load(held, Access { addr, width: Width::W32, extend: Extend::Zero }, false, WRONG, env)?;
            let owner = Operand::Const(Value(self.thread as u64 + 1));
            self.set(same, Rvalue::Binary(BinaryOp::Eq, Width::W32, Extend::Zero, held.into(), owner), env);
            let message = "a mutex is unlocked by a thread that does not hold it".into();
            self.emit(Op::Assert { condition: same.into(), kind: FailKind::Misuse, message });
        }
        self.store(addr, ZERO, Width::W32, false, env)
    }

    fn local(&mut self, dst: Reg, object: &Object, private: bool, env: &mut Env) {
        let id = ObjectId(self.shared.objects.len() as u32);
        // Private objects keep a number of their own, so that their pointers are like any others.
        self.shared.objects.push(object.clone());
        if private {
            let cells: Vec<Reg> = object.cells.iter().map(|_| self.new_reg()).collect();
            let mut valid = Vec::new();
            for (cell, reg) in object.cells.iter().zip(&cells) {
                let init = cell.width.zero_extend(cell.init.unwrap_or(Value::ZERO));
                self.set(*reg, Rvalue::Use(init.into()), env);
                valid.push(cell.init.is_none().then(|| {
                    let reg = self.new_reg();
                    env.insert(reg.0, Known::Value(Value::ZERO));
                    reg
                }));
            }
            self.shared.private.insert(id.0, Private { object: object.clone(), cells, valid });
            self.shared.objects[id.0 as usize].cells.clear();
        }
        self.set(dst, Rvalue::Use(Value::pointer(id, 0).into()), env);
    }

    fn thread_copy(&mut self, template: ObjectId) -> ObjectId {
        let key = (self.thread, template.0);
        if let Some(copy) = self.shared.copies.get(&key) {
            return *copy;
        }
        let copy = ObjectId(self.shared.objects.len() as u32);
        let object = self.shared.objects[template.0 as usize].clone();
        self.shared.objects.push(object);
        self.shared.copies.insert(key, copy);
        copy
    }

    /// The private object that an address points into, and the address if it is known.
    fn private(&self, addr: Operand, env: &Env) -> Result<Option<(Private, Option<u32>)>, Unsupported> {
        let (object, offset) = match operand(env, addr) {
            Some(Known::Value(value)) => match value.as_pointer() {
                Some((object, offset)) => (object, Some(offset)),
                None => return Ok(None),
            },
            Some(Known::Into(object)) => (object, None),
            Some(Known::Mixed) => {
                return Err(self.unsupported("an access through one of several pointers to local objects"));
            }
            None => return Ok(None),
        };
        Ok(self.shared.private.get(&object.0).map(|private| (private.clone(), offset)))
    }

    fn load(
        &mut self,
        dst: Reg,
        access: Access,
        reserve: bool,
        uninitialised: Option<FailKind>,
        env: &mut Env,
    ) -> Result<(), Unsupported> {
        let Access { addr, width, extend } = access;
        let Some((private, offset)) = self.private(addr, env)? else {
            env.remove(&dst.0);
            self.emit(Op::Load { dst, addr, width, extend, reserve });
            return Ok(());
        };
        let (value, valid) = match offset {
            Some(offset) => {
                let at = private.cell(offset, width, self.span)?;
                (private.cells[at], private.valid[at])
            }
            None => self.select(&private, addr, width, env),
        };
        if let (Some(valid), Some(kind)) = (valid, uninitialised)
            && !matches!(operand(env, valid.into()), Some(Known::Value(value)) if value.is_true())
        {
            let message = "an uninitialised value is read".into();
            self.emit(Op::Assert { condition: valid.into(), kind, message });
        }
        // A copy keeps what is known, also of pointers.
        match width {
            Width::W64 | Width::W128 => self.set(dst, Rvalue::Use(value.into()), env),
            _ => self.extend(dst, value, width, extend, env),
        }
        Ok(())
    }

    /// The value of a private cell whose index is not known, and whether it has one.
    fn select(
        &mut self,
        private: &Private,
        addr: Operand,
        width: Width,
        env: &mut Env,
    ) -> (Reg, Option<Reg>) {
        let (value, valid, hit) = (self.new_reg(), self.new_reg(), self.new_reg());
        self.set(value, Rvalue::Use(ZERO), env);
        // No cell there is a finding too, told as one.
        self.set(valid, Rvalue::Use(ZERO), env);
        for (at, offset) in private.of_width(width) {
            self.hit(hit, private, addr, offset, env);
            self.set(value, Rvalue::Select(hit.into(), private.cells[at].into(), value.into()), env);
            let known = private.valid[at].map_or(Operand::Const(Value(1)), Operand::Reg);
            self.set(valid, Rvalue::Select(hit.into(), known, valid.into()), env);
        }
        (value, Some(valid))
    }

    fn hit(&mut self, hit: Reg, private: &Private, addr: Operand, offset: u32, env: &mut Env) {
        let object = self.shared.private.iter().find(|(_, other)| other.cells == private.cells);
        let object = ObjectId(object.map_or(0, |(id, _)| *id));
        let place = Operand::Const(Value::pointer(object, offset));
        self.set(hit, Rvalue::Binary(BinaryOp::Eq, Width::W64, Extend::Zero, addr, place), env);
    }

    fn store(
        &mut self,
        addr: Operand,
        value: Operand,
        width: Width,
        paired: bool,
        env: &mut Env,
    ) -> Result<(), Unsupported> {
        let Some((private, offset)) = self.private(addr, env)? else {
            self.emit(Op::Store { addr, value, width, paired });
            return Ok(());
        };
        let narrow = self.new_reg();
        match width {
            Width::W64 | Width::W128 => self.set(narrow, Rvalue::Use(value), env),
            _ => self.set(narrow, Rvalue::Unary(UnaryOp::ZeroExtend, width, Extend::Zero, value), env),
        }
        match offset {
            Some(offset) => {
                let at = private.cell(offset, width, self.span)?;
                self.set(private.cells[at], Rvalue::Use(narrow.into()), env);
                if let Some(valid) = private.valid[at] {
                    self.set(valid, Rvalue::Use(Value(1).into()), env);
                }
            }
            None => {
                let (hit, any) = (self.new_reg(), self.new_reg());
                self.set(any, Rvalue::Use(ZERO), env);
                for (at, offset) in private.of_width(width) {
                    let (cell, one) = (private.cells[at], Operand::Const(Value(1)));
                    self.hit(hit, &private, addr, offset, env);
                    self.set(cell, Rvalue::Select(hit.into(), narrow.into(), cell.into()), env);
                    self.set(any, Rvalue::Select(hit.into(), one, any.into()), env);
                    if let Some(valid) = private.valid[at] {
                        self.set(valid, Rvalue::Select(hit.into(), one, valid.into()), env);
                    }
                }
                let message = format!("an access outside of `{}`", private.object.name);
                self.emit(Op::Assert { condition: any.into(), kind: FailKind::Assertion, message });
            }
        }
        Ok(())
    }
}

fn rebase_value(value: Rvalue, base: u32) -> Rvalue {
    let op = |operand| rebase(operand, base);
    match value {
        Rvalue::Use(a) => Rvalue::Use(op(a)),
        Rvalue::Unary(unary, width, extend, a) => Rvalue::Unary(unary, width, extend, op(a)),
        Rvalue::Binary(binary, width, extend, a, b) => Rvalue::Binary(binary, width, extend, op(a), op(b)),
        Rvalue::Select(c, a, b) => Rvalue::Select(op(c), op(a), op(b)),
    }
}
