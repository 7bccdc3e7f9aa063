//! Statements to instructions: blocks and their objects, jumps in and out of them.
//!
//! The objects of a block are made when it is entered and end when it is left. A `goto` or a `case` may enter and leave
//! several blocks at once; what has to be made and ended is known only when the label's place is, so such jumps go
//! through a few instructions at the end of the function.

use super::builder::Target;
use super::{Body, Scope, Storage};
use crate::ast::{Block, Expr, LabelId, LocalId, Stmt, StmtKind};
use crate::parser::{Res, fail};
use fencepost_ir::{Ann, BinaryOp, Extend, FailKind, Instr, Operand, Value, Width};
use std::rc::Rc;

impl Body<'_, '_> {
    pub(super) fn block(&mut self, block: &Block) -> Res<()> {
        self.enter_block(&block.locals)?;
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        self.b.span = block.end;
        self.leave_block()
    }

    /// Opens a block and makes its objects.
    pub(super) fn enter_block(&mut self, locals: &[LocalId]) -> Res<()> {
        let objects: Vec<LocalId> =
            locals.iter().copied().filter(|l| self.storage[l.0 as usize].is_object()).collect();
        for &local in &objects {
            self.make_object(local)?;
        }
        // An array of variable length that is not reached is nothing to free.
        let heap: Vec<LocalId> =
            locals.iter().copied().filter(|l| self.def.locals[l.0 as usize].heap).collect();
        for &local in &heap {
            let span = self.b.span;
            if let super::places::Where::Register(reg) = self.variable(local, span)? {
                self.b.assign(reg, Operand::Const(Value::ZERO));
            }
        }
        self.chain.push(self.blocks.len());
        self.blocks.push(objects);
        self.arrays.push(heap);
        self.cleanups.push(Vec::new());
        Ok(())
    }

    /// Closes the innermost block and ends its objects.
    pub(super) fn leave_block(&mut self) -> Res<()> {
        if let Some(&block) = self.chain.last() {
            self.clean_up(block, 0)?;
            self.chain.pop();
            self.end_objects(block);
        }
        Ok(())
    }

    /// Evaluates what leaving a block does beyond ending its objects; the first `kept` declarations stay.
    fn clean_up(&mut self, block: usize, kept: usize) -> Res<()> {
        let due: Vec<Rc<Expr>> = self.cleanups[block].iter().skip(kept).rev().cloned().collect();
        for expr in due {
            let mark = self.b.mark();
            self.effect(&expr)?;
            self.b.release(mark);
        }
        Ok(())
    }

    /// The open blocks here.
    fn scope(&self) -> Scope {
        let cleanups = self.chain.iter().map(|&block| self.cleanups[block].clone()).collect();
        Scope { chain: self.chain.clone(), cleanups }
    }

    /// A declaration without an initialiser: what the variable had before is gone (C11 6.2.4). An object is made when its
    /// block is entered, so that this matters only where a label lets the declaration be reached again.
    fn declare_again(&mut self, local: LocalId) -> Res<()> {
        match self.storage[local.0 as usize] {
            Storage::Register => {
                let span = self.b.span;
                if let super::places::Where::Register(reg) = self.variable(local, span)? {
                    self.b.forget(reg);
                }
                Ok(())
            }
            Storage::Private if !self.def.labels.is_empty() => {
                if let Some(reg) = self.registers[local.0 as usize] {
                    self.b.emit(Instr::EndLocal(Operand::Reg(reg)));
                }
                self.make_object(local)
            }
            // Who has kept its address sees that it has no value any more. A jump back needs a label that came before.
            Storage::Shared if self.labels.iter().any(Option::is_some) => {
                let ty = self.def.locals[local.0 as usize].ty;
                let (Some(reg), span) = (self.registers[local.0 as usize], self.b.span) else {
                    return Ok(());
                };
                for cell in self.disjoint_cells(ty, span)? {
                    let mark = self.b.mark();
                    let addr = self.offset(Operand::Reg(reg), cell.offset);
                    let value = Operand::Const(Value::UNDEFINED);
                    self.b.emit(Instr::Store { addr, value, width: cell.width, ann: Ann::PLAIN });
                    self.b.release(mark);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn make_object(&mut self, local: LocalId) -> Res<()> {
        let index = local.0 as usize;
        let info = &self.def.locals[index];
        let private = self.storage[index] == Storage::Private;
        let object = self.local_object(local)?;
        let outer = std::mem::replace(&mut self.b.span, info.span);
        let is_param = self.def.params.contains(&local);
        let value = self.registers[index];
        let dst = match value {
            Some(reg) if !is_param => reg,
            _ => self.b.register(&info.name),
        };
        self.made_at[index] = Some(self.b.place());
        self.b.emit(Instr::Local { dst, object: Box::new(object), private });
        self.registers[index] = Some(dst);
        if let (true, Some(value)) = (is_param, value) {
            self.store_parameter(local, Operand::Reg(value))?;
        }
        self.b.span = outer;
        Ok(())
    }

    pub(super) fn end_objects(&mut self, block: usize) {
        for i in (0..self.arrays[block].len()).rev() {
            let local = self.arrays[block][i];
            if let Some(reg) = self.registers[local.0 as usize] {
                self.b.emit(Instr::Free(Operand::Reg(reg)));
            }
        }
        // Returning from main lets the other threads finish, and they may use what main gave them.
        if self.def.name == "main" && block == 0 {
            return;
        }
        for i in (0..self.blocks[block].len()).rev() {
            let local = self.blocks[block][i];
            if let Some(reg) = self.registers[local.0 as usize] {
                self.b.emit(Instr::EndLocal(Operand::Reg(reg)));
            }
        }
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Res<()> {
        let outer = std::mem::replace(&mut self.b.span, stmt.span);
        let mark = self.b.mark();
        let result = self.stmt_here(stmt);
        self.b.release(mark);
        self.b.span = outer;
        result
    }

    fn stmt_here(&mut self, stmt: &Stmt) -> Res<()> {
        match &stmt.kind {
            StmtKind::Expr(None) => Ok(()),
            StmtKind::Expr(Some(expr)) => self.effect(expr),
            StmtKind::Declare(local, init) => match init {
                Some(init) if self.fold_initialiser(*local, init) => Ok(()),
                Some(init) => self.initialise(*local, init, stmt.span),
                None => self.declare_again(*local),
            },
            StmtKind::Block(block) => self.block(block),
            StmtKind::If(condition, then, otherwise) => self.if_stmt(condition, then, otherwise.as_deref()),
            StmtKind::While(condition, body) => self.loop_stmt(Some(condition), None, body),
            StmtKind::For(condition, step, body) => self.loop_stmt(condition.as_ref(), step.as_ref(), body),
            StmtKind::DoWhile(body, condition) => self.do_stmt(body, condition),
            StmtKind::Switch { value, cases, default, body } => {
                self.switch_stmt(value, cases, *default, body)
            }
            StmtKind::Label(label, inner) => {
                let target = self.b.target();
                self.b.bind(target);
                self.labels[label.0 as usize] = Some((target, self.scope()));
                self.stmt(inner)
            }
            StmtKind::Goto(label) => {
                let target = self.jump_to(*label);
                self.b.jump(target);
                Ok(())
            }
            StmtKind::GotoValue(value) => self.goto_value(value),
            StmtKind::Cleanup(expr) => {
                if let Some(&block) = self.chain.last() {
                    self.cleanups[block].push(Rc::new(expr.clone()));
                }
                Ok(())
            }
            StmtKind::Break => self.leave_to(self.breaks.last().copied()),
            StmtKind::Continue => self.leave_to(self.continues.last().copied()),
            StmtKind::Return(value) => self.return_stmt(value.as_ref()),
            StmtKind::Asm(fences) => {
                for fence in fences {
                    self.b.emit(Instr::Fence(*fence));
                }
                Ok(())
            }
        }
    }

    /// The condition of a statement; its temporaries are free afterwards.
    fn condition(&mut self, condition: &Expr, yes: Target, no: Target) -> Res<()> {
        let mark = self.b.mark();
        self.branch_on(condition, yes, no)?;
        self.b.release(mark);
        Ok(())
    }

    fn if_stmt(&mut self, condition: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Res<()> {
        let (yes, no, end) = (self.b.target(), self.b.target(), self.b.target());
        self.condition(condition, yes, no)?;
        self.b.bind(yes);
        self.stmt(then)?;
        if let Some(otherwise) = otherwise {
            self.b.jump(end);
            self.b.bind(no);
            self.stmt(otherwise)?;
        } else {
            self.b.bind(no);
        }
        self.b.bind(end);
        Ok(())
    }

    fn loop_stmt(&mut self, condition: Option<&Expr>, step: Option<&Expr>, body: &Stmt) -> Res<()> {
        let (head, inside, next, end) = (self.b.target(), self.b.target(), self.b.target(), self.b.target());
        self.b.bind(head);
        if let Some(condition) = condition {
            self.condition(condition, inside, end)?;
        }
        self.b.bind(inside);
        self.body_of_loop(body, end, next)?;
        self.b.bind(next);
        if let Some(step) = step {
            let mark = self.b.mark();
            self.effect(step)?;
            self.b.release(mark);
        }
        self.b.jump(head);
        self.b.bind(end);
        Ok(())
    }

    fn do_stmt(&mut self, body: &Stmt, condition: &Expr) -> Res<()> {
        let (head, next, end) = (self.b.target(), self.b.target(), self.b.target());
        self.b.bind(head);
        self.body_of_loop(body, end, next)?;
        self.b.bind(next);
        self.condition(condition, head, end)?;
        self.b.bind(end);
        Ok(())
    }

    fn body_of_loop(&mut self, body: &Stmt, end: Target, next: Target) -> Res<()> {
        let depth = self.chain.len();
        self.breaks.push((end, depth));
        self.continues.push((next, depth));
        self.stmt(body)?;
        self.breaks.pop();
        self.continues.pop();
        Ok(())
    }

    /// Jumps out of the blocks that were opened since.
    fn leave_to(&mut self, to: Option<(Target, usize)>) -> Res<()> {
        let Some((target, depth)) = to else { return Ok(()) };
        for i in (depth..self.chain.len()).rev() {
            self.clean_up(self.chain[i], 0)?;
            self.end_objects(self.chain[i]);
        }
        self.b.jump(target);
        Ok(())
    }

    /// `goto *value;`: to whichever label of the function has that address.
    fn goto_value(&mut self, value: &Expr) -> Res<()> {
        let mark = self.b.mark();
        let value = self.value(value)?;
        if let (labels, Some(object)) = &self.def.label_values {
            let object = self.program.object_of(*object);
            for (index, &label) in labels.iter().enumerate() {
                let hit = self.jump_to(label);
                let next = self.b.target();
                let address = Operand::Const(Value::pointer(object, index as u32));
                let same = self.binary(BinaryOp::Eq, Width::W64, Extend::Zero, value, address);
                self.b.branch(same, hit, next);
                self.b.bind(next);
            }
        }
        self.b.release(mark);
        let message = "a computed `goto` leads to no label of its function".into();
        self.b.emit(Instr::Fail { kind: FailKind::Assertion, message });
        Ok(())
    }

    fn switch_stmt(
        &mut self,
        value: &Expr,
        cases: &[(i64, i64, LabelId)],
        default: Option<LabelId>,
        body: &Stmt,
    ) -> Res<()> {
        let end = self.b.target();
        let (width, _) = self.shape(value.ty.ty);
        let signed = self.unit.types.is_signed(value.ty.ty);
        let mark = self.b.mark();
        let value = self.value(value)?;
        for &(first, last, label) in cases {
            let hit = self.jump_to(label);
            let next = self.b.target();
            let constant = |n: i64| Operand::Const(Value::from_i64(n));
            let inner_mark = self.b.mark();
            if first == last {
                let same = self.binary(BinaryOp::Eq, width, Extend::Zero, value, constant(first));
                self.b.branch(same, hit, next);
            } else {
                let (ge, le) =
                    if signed { (BinaryOp::GeS, BinaryOp::LeS) } else { (BinaryOp::GeU, BinaryOp::LeU) };
                let above = self.binary(ge, width, Extend::Zero, value, constant(first));
                let middle = self.b.target();
                self.b.branch(above, middle, next);
                self.b.bind(middle);
                let below = self.binary(le, width, Extend::Zero, value, constant(last));
                self.b.branch(below, hit, next);
            }
            self.b.release(inner_mark);
            self.b.bind(next);
        }
        self.b.release(mark);
        let otherwise = match default {
            Some(label) => self.jump_to(label),
            None => end,
        };
        self.b.jump(otherwise);
        self.breaks.push((end, self.chain.len()));
        self.stmt(body)?;
        self.breaks.pop();
        self.b.bind(end);
        Ok(())
    }

    /// A target that leads to a label from the blocks that are open here.
    pub(super) fn jump_to(&mut self, label: LabelId) -> Target {
        let target = self.b.target();
        self.jumps.push((target, self.scope(), label));
        target
    }

    /// Gives every jump to a label its way there.
    pub(super) fn resolve_jumps(&mut self) -> Res<()> {
        for (jump, from, label) in std::mem::take(&mut self.jumps) {
            let Some((target, to)) = self.labels[label.0 as usize].clone() else {
                return fail(
                    self.def.span,
                    "a jump leads to a label inside an operand that is not evaluated",
                );
            };
            let common = from.chain.iter().zip(&to.chain).take_while(|(a, b)| a == b).count();
            let objects = |chain: &[usize]| {
                chain.iter().any(|&b| !self.blocks[b].is_empty() || !self.arrays[b].is_empty())
            };
            // A jump back over a declaration leaves the scope of its variable, too.
            let kept = |depth: usize| match depth < common {
                true => to.cleanups[depth].len(),
                false => 0,
            };
            let cleans = (0..from.chain.len()).any(|depth| from.cleanups[depth].len() > kept(depth));
            if !cleans && !objects(&from.chain[common..]) && !objects(&to.chain[common..]) {
                self.b.alias(jump, target);
                continue;
            }
            self.b.bind(jump);
            for (depth, &block) in from.chain.iter().enumerate().rev() {
                self.cleanups[block] = from.cleanups[depth].clone();
                self.clean_up(block, kept(depth))?;
                if depth >= common {
                    self.end_objects(block);
                }
            }
            for &block in &to.chain[common..] {
                for local in self.blocks[block].clone() {
                    self.make_object(local)?;
                }
            }
            self.b.jump(target);
        }
        Ok(())
    }

    fn return_stmt(&mut self, value: Option<&Expr>) -> Res<()> {
        let mut result = None;
        if let Some(expr) = value {
            match self.result_address {
                Some(address) => {
                    let target = super::places::Place::memory(Operand::Reg(address), expr.ty);
                    self.struct_into(expr, target)?;
                }
                None if expr.ty.ty == crate::types::Ty::VOID => self.effect(expr)?,
                None => result = Some(self.value(expr)?),
            }
        }
        // A result that is read from an object must be read before the object ends; it is in a register by now.
        for i in (0..self.chain.len()).rev() {
            self.clean_up(self.chain[i], 0)?;
            self.end_objects(self.chain[i]);
        }
        self.leave_function();
        self.b.emit(Instr::Return(result));
        Ok(())
    }
}
