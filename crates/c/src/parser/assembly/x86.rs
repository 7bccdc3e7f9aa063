//! The instructions of x86, in the syntax of GNU's assembler, as C.

use super::translation::{ACQUIRE, Home, RELEASE, SEQ_CST, Step, Translation, immediate, label};
use super::{Assembly, fences};
use crate::ast::{ArithOp, Block, Expr, ExprKind, LabelId, LocalId, Stmt, StmtKind};
use crate::parser::{Parser, Res, int_expr};
use crate::types::{QTy, Ty};
use fencepost_ir::Fence;

/// An operand of an instruction.
#[derive(Clone)]
enum Arg {
    Operand(usize),
    Immediate(i64),
    /// What an operand in a register points to.
    Pointed(usize, i64),
    /// A register by its letter.
    Register(char),
    /// Something on the stack.
    Stack,
}

impl Parser<'_> {
    /// The block that does what the assembly does.
    pub(super) fn x86_block(&mut self, assembly: &Assembly) -> Step<Block> {
        let template = plain(&assembly.text);
        let lines = template.split(['\n', ';']).map(str::trim);
        // `1: lock cmpxchg ...` in one line is a label, a prefix and an instruction.
        let known: Vec<&str> = lines
            .flat_map(|line| match line.split_once(':') {
                Some((number, rest)) if number.chars().all(|c| c.is_ascii_digit()) => {
                    [&line[..=number.len()], rest.trim()]
                }
                _ => ["", line],
            })
            .flat_map(|line| match line.strip_prefix("lock").map(str::trim) {
                Some(rest) => ["lock", rest],
                None => ["", line],
            })
            .filter(|line| !line.is_empty())
            .collect();
        let names: Vec<Option<String>> = assembly.operands.iter().map(|o| o.name.clone()).collect();
        let known_line = |line: &&str| {
            label(line).is_some() || jump(line).is_some() || instruction(line, &names).is_some()
        };
        if !known.iter().all(known_line) {
            return Ok(None);
        }
        self.open_block()?;
        let done = self.x86_statements(assembly, &known, &names);
        let end = self.last_span();
        let block = self.close_block(Vec::new(), end);
        Ok(done?.map(|stmts| Block { stmts, ..block }))
    }

    fn x86_statements(
        &mut self,
        assembly: &Assembly,
        lines: &[&str],
        names: &[Option<String>],
    ) -> Step<Vec<Stmt>> {
        let Some(mut t) = self.x86_operands(assembly)? else { return Ok(None) };
        let Some(labels) = self.assembly_labels(&t, lines)? else { return Ok(None) };
        let mut lock = false;
        for (at, line) in lines.iter().enumerate() {
            if let Some((_, label)) = labels.iter().find(|(place, _)| *place == at) {
                let nothing = Box::new(Stmt { kind: StmtKind::Expr(None), span: t.span });
                t.stmts.push(Stmt { kind: StmtKind::Label(*label, nothing), span: t.span });
                continue;
            }
            if let Some((condition, target)) = jump(line) {
                if self.x86_jump(&mut t, condition, target, at, lines, &labels)?.is_none() {
                    return Ok(None);
                }
                continue;
            }
            let Some((word, args)) = instruction(line, names) else { return Ok(None) };
            if word == "lock" {
                lock = true;
                continue;
            }
            if self.x86_instruction(&mut t, &word, &args, lock)?.is_none() {
                return Ok(None);
            }
            lock = false;
        }
        self.x86_results(&mut t, assembly)?;
        Ok(Some(t.stmts))
    }

    /// A jump to the next label of that number (`1f`) or to the last one (`1b`).
    fn x86_jump(
        &mut self,
        t: &mut Translation,
        condition: &str,
        target: &str,
        at: usize,
        lines: &[&str],
        labels: &[(usize, LabelId)],
    ) -> Step<()> {
        let named = |place: usize, number: &str| label(lines[place]) == Some(number);
        let found = match (target.strip_suffix('f'), target.strip_suffix('b')) {
            (Some(number), _) => labels.iter().find(|(place, _)| *place > at && named(*place, number)),
            (_, Some(number)) => labels.iter().rev().find(|(place, _)| *place < at && named(*place, number)),
            _ => None,
        };
        let Some((_, label)) = found else { return Ok(None) };
        let jump = Stmt { kind: StmtKind::Goto(*label), span: t.span };
        if condition == "mp" {
            t.stmts.push(jump);
            return Ok(Some(()));
        }
        let Some(value) = self.x86_condition(t, condition)? else { return Ok(None) };
        t.stmts.push(Stmt { kind: StmtKind::If(value, Box::new(jump), None), span: t.span });
        Ok(Some(()))
    }

    /// Variables for the operands in registers, with their values.
    fn x86_operands(&mut self, assembly: &Assembly) -> Step<Translation> {
        let span = assembly.span;
        let mut flags = [LocalId(0); 3];
        for flag in &mut flags {
            *flag = self.temporary(Ty::INT.into(), span)?;
        }
        let mut t = Translation { homes: Vec::new(), fixed: Vec::new(), flags, stmts: Vec::new(), span };
        for operand in &assembly.operands {
            let constraint = operand.constraint.trim_start_matches(['=', '+', '&', '%']);
            // `"0"` or `"[name]"`: where that output is.
            let by_name = constraint.strip_prefix('[').and_then(|c| c.strip_suffix(']'));
            let named = |name: &str| assembly.operands.iter().position(|o| o.name.as_deref() == Some(name));
            let tied = constraint.parse::<usize>().ok().or_else(|| by_name.and_then(named));
            let constraint = if tied.is_some() { "" } else { constraint };
            let letter = constraint.chars().find(|c| "abcdSD".contains(*c));
            let memory = constraint.chars().any(|c| "moV".contains(c))
                && !constraint.chars().any(|c| "rqQgiInNe".contains(c) || c.is_ascii_digit())
                && letter.is_none();
            if operand.constraint.contains("@cc") {
                t.homes.push(Home::Flag);
                continue;
            }
            if memory {
                t.homes.push(Home::Memory(operand.expr.clone()));
                continue;
            }
            let ty = self.rvalue(operand.expr.clone())?.ty.ty;
            if !self.unit.types.is_integer(ty) && !self.unit.types.is_pointer(ty) {
                return Ok(None);
            }
            let register = match (tied.map(|n| t.homes.get(n).cloned()), letter) {
                (Some(Some(Home::Register(local))), _) => local,
                (Some(Some(Home::Memory(_))), _) => {
                    t.homes.push(Home::Memory(operand.expr.clone()));
                    continue;
                }
                (Some(_), _) => return Ok(None),
                (None, Some(letter)) => self.assembly_register(&mut t, u32::from(letter))?,
                (None, None) if !operand.output => {
                    // Nothing writes an input.
                    let value = self.rvalue(operand.expr.clone())?;
                    let local = self.assembly_kept(&mut t, value)?;
                    t.homes.push(Home::Register(local));
                    continue;
                }
                (None, None) => self.temporary(QTy::plain(ty), span)?,
            };
            if !operand.output || operand.constraint.contains('+') {
                let value = self.rvalue(operand.expr.clone())?;
                self.assembly_set(&mut t, register, value)?;
            }
            t.homes.push(Home::Register(register));
        }
        Ok(Some(t))
    }

    /// Outputs get what their registers have.
    fn x86_results(&mut self, t: &mut Translation, assembly: &Assembly) -> Res<()> {
        for (index, operand) in assembly.operands.iter().enumerate().filter(|(_, o)| o.output) {
            if let Some(condition) = operand.constraint.split_once("@cc").map(|(_, c)| c.to_string()) {
                if let Some(value) = self.x86_condition(t, &condition)? {
                    self.assembly_assign(t, operand.expr.clone(), value)?;
                }
            } else if let Home::Register(local) = t.homes[index].clone() {
                let value = self.assembly_get(t, local)?;
                self.assembly_assign(t, operand.expr.clone(), value)?;
            }
        }
        Ok(())
    }

    /// A flag, or its opposite, as 0 or 1.
    fn x86_condition(&mut self, t: &Translation, condition: &str) -> Step<Expr> {
        let (flag, expected) = match condition {
            "e" | "z" => (0, true),
            "ne" | "nz" => (0, false),
            "s" => (1, true),
            "ns" => (1, false),
            "c" | "b" => (2, true),
            "nc" | "ae" => (2, false),
            _ => return Ok(None),
        };
        let value = self.assembly_get(t, t.flags[flag])?;
        let zero = int_expr(0, Ty::INT, t.span);
        self.arith(if expected { ArithOp::Ne } else { ArithOp::Eq }, value, zero).map(Some)
    }

    /// The place in memory that an operand is, if it is one.
    fn x86_memory(&mut self, t: &Translation, arg: &Arg, like: Option<Ty>) -> Step<Expr> {
        match arg {
            Arg::Operand(n) => {
                let Some(Home::Memory(place)) = t.homes.get(*n).cloned() else { return Ok(None) };
                let size = |ty: Ty| self.unit.types.size(ty);
                let bytes =
                    |ty: &Ty| !self.unit.types.is_scalar(place.ty.ty) || size(place.ty.ty) != size(*ty);
                let Some(ty) = like.filter(bytes) else {
                    return Ok(Some(place));
                };
                // A structure or a character stands for bytes of a size that the instruction says.
                let address = self.address_of(place, t.span)?;
                let pointer = self.unit.types.pointer(ty);
                let address = self.explicit_cast(address, pointer.into(), t.span)?;
                self.dereference(address, t.span).map(Some)
            }
            Arg::Pointed(n, displacement) => {
                let Some(Home::Register(local)) = t.homes.get(*n).cloned() else { return Ok(None) };
                let Some(ty) = like else { return Ok(None) };
                let base = self.assembly_get(t, local)?;
                let bytes = self.unit.types.pointer(Ty::CHAR);
                let base = self.explicit_cast(base, bytes.into(), t.span)?;
                let moved = int_expr(*displacement as u64, Ty::LONG, t.span);
                let moved = self.arith(ArithOp::Add, base, moved)?;
                let pointer = self.unit.types.pointer(ty);
                let pointer = self.explicit_cast(moved, pointer.into(), t.span)?;
                self.dereference(pointer, t.span).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The variable of a register.
    fn x86_register(&mut self, t: &mut Translation, arg: &Arg) -> Step<LocalId> {
        match arg {
            Arg::Operand(n) => Ok(match t.homes.get(*n) {
                Some(Home::Register(local)) => Some(*local),
                _ => None,
            }),
            Arg::Register(letter) => self.assembly_register(t, u32::from(*letter)).map(Some),
            _ => Ok(None),
        }
    }

    /// A value that is read, as a type.
    fn x86_value(&mut self, t: &mut Translation, arg: &Arg, ty: Ty) -> Step<Expr> {
        let value = match arg {
            Arg::Immediate(n) => int_expr(*n as u64, Ty::LONG, t.span),
            _ => {
                if let Some(local) = self.x86_register(t, arg)? {
                    self.assembly_get(t, local)?
                } else if let Some(place) = self.x86_memory(t, arg, Some(ty))? {
                    let loaded = self.assembly_atomic("__atomic_load_n", place, vec![], ACQUIRE, t.span)?;
                    let local = self.assembly_kept(t, loaded)?;
                    self.assembly_get(t, local)?
                } else {
                    return Ok(None);
                }
            }
        };
        self.explicit_cast(value, QTy::plain(ty), t.span).map(Some)
    }

    /// The type that the operands of an instruction have: that of memory, or of a register.
    fn x86_type(&mut self, t: &mut Translation, args: &[Arg], suffix: Option<char>) -> Step<Ty> {
        let size = suffix.map(|c| match c {
            'b' => 1,
            'w' => 2,
            'l' => 4,
            _ => 8,
        });
        for arg in args {
            if let Arg::Operand(n) = arg
                && let Some(Home::Memory(place)) = t.homes.get(*n)
                && self.unit.types.is_scalar(place.ty.ty)
            {
                let ty = place.ty.ty;
                let scalar = self.unit.types.is_integer(ty) || self.unit.types.is_pointer(ty);
                let fits = scalar && size.is_none_or(|size| self.unit.types.size(ty) == Some(size));
                // A character stands for any bytes.
                if !fits && self.unit.types.size(ty) == Some(1) {
                    continue;
                }
                return Ok(fits.then_some(ty));
            }
        }
        if let Some(size) = size {
            return Ok(Some(match size {
                1 => Ty::UCHAR,
                2 => Ty::USHORT,
                4 => Ty::UINT,
                _ => Ty::ULONG,
            }));
        }
        for arg in args.iter().filter(|arg| matches!(arg, Arg::Operand(_))) {
            if let Some(local) = self.x86_register(t, arg)? {
                return Ok(Some(self.assembly_get(t, local)?.ty.ty));
            }
        }
        Ok(None)
    }

    /// A locked read-modify-write between full fences; the result is in a variable.
    fn x86_locked(
        &mut self,
        t: &mut Translation,
        name: &str,
        place: Expr,
        values: Vec<Expr>,
    ) -> Res<LocalId> {
        self.assembly_fence(t, Fence::Mfence);
        let done = self.assembly_atomic(name, place, values, SEQ_CST, t.span)?;
        let local = self.assembly_kept(t, done)?;
        self.assembly_fence(t, Fence::Mfence);
        Ok(local)
    }

    /// Sets zero and sign by a result.
    fn x86_flags(&mut self, t: &mut Translation, result: Expr) -> Res<()> {
        let [zero, sign, _] = t.flags;
        let ty = result.ty.ty;
        let is_zero = self.arith(ArithOp::Eq, result.clone(), int_expr(0, Ty::INT, t.span));
        if let Ok(is_zero) = is_zero {
            self.assembly_set(t, zero, is_zero)?;
        }
        let top = 8 * self.unit.types.size(ty).unwrap_or(8) - 1;
        let bits = self.explicit_cast(result, Ty::ULONG.into(), t.span)?;
        let bit = self.arith(ArithOp::Shr, bits, int_expr(top, Ty::INT, t.span))?;
        let bit = self.arith(ArithOp::And, bit, int_expr(1, Ty::ULONG, t.span))?;
        self.assembly_set(t, sign, bit)
    }

    /// One instruction; `None` if it is not known.
    fn x86_instruction(&mut self, t: &mut Translation, word: &str, args: &[Arg], lock: bool) -> Step<()> {
        if let Some(condition) = word.strip_prefix("set") {
            let Some(value) = self.x86_condition(t, condition)? else { return Ok(None) };
            let [to] = args else { return Ok(None) };
            return self.x86_write(t, to, value, Ty::UCHAR);
        }
        if let Some(found) = fences(word) {
            found.iter().for_each(|fence| self.assembly_fence(t, *fence));
            return Ok(Some(()));
        }
        let Some((base, suffix)) = known_word(word) else { return Ok(None) };
        // A locked addition of zero to the stack is how x86 code writes a full fence.
        if args.iter().any(|arg| matches!(arg, Arg::Stack)) {
            let nothing = matches!(args, [Arg::Immediate(0), Arg::Stack]) && matches!(base, "add" | "or");
            self.assembly_fence(t, Fence::Mfence);
            return Ok((nothing && lock).then_some(()));
        }
        if base.starts_with("rdtsc") {
            return self.x86_ticks(t, base == "rdtscp").map(Some);
        }
        if let ("cmpxchg16b", [to], true) = (base, args, lock) {
            return self.x86_compare_exchange_two(t, to);
        }
        let Some(ty) = self.x86_type(t, args, suffix)? else { return Ok(None) };
        match (base, args) {
            ("mov", [from, to]) => {
                let Some(value) = self.x86_value(t, from, ty)? else { return Ok(None) };
                self.x86_write(t, to, value, ty)
            }
            ("xchg", [a, b]) => self.x86_exchange(t, a, b, ty),
            ("xadd", [from, to]) if lock => {
                let Some(register) = self.x86_register(t, from)? else { return Ok(None) };
                let Some(place) = self.x86_memory(t, to, Some(ty))? else { return Ok(None) };
                let Some(value) = self.x86_value(t, from, ty)? else { return Ok(None) };
                let old = self.x86_locked(t, "__atomic_fetch_add", place, vec![value])?;
                let old = self.assembly_get(t, old)?;
                self.assembly_set(t, register, old).map(Some)
            }
            ("cmpxchg", [new, to]) if lock => self.x86_compare_exchange(t, new, to, ty),
            ("cmp" | "test", [a, b]) => self.x86_compare(t, base, a, b, ty),
            ("inc" | "dec", [to]) => self.x86_modify(t, base, &Arg::Immediate(1), to, ty, lock),
            ("add" | "sub" | "and" | "or" | "xor", [from, to]) => {
                self.x86_modify(t, base, from, to, ty, lock)
            }
            _ => Ok(None),
        }
    }

    /// The processor's counter in two halves, and the number of the processor.
    fn x86_ticks(&mut self, t: &mut Translation, with_processor: bool) -> Res<()> {
        let ticks = self.ticks(t.span, t.span)?;
        let ticks = self.assembly_kept(t, ticks)?;
        let (low, high) = (self.assembly_get(t, ticks)?, self.assembly_get(t, ticks)?);
        let low = self.arith(ArithOp::And, low, int_expr(u64::from(u32::MAX), Ty::ULONG, t.span))?;
        let high = self.arith(ArithOp::Shr, high, int_expr(32, Ty::INT, t.span))?;
        let processor = with_processor.then(|| int_expr(0, Ty::ULONG, t.span));
        for (letter, value) in [('a', Some(low)), ('d', Some(high)), ('c', processor)] {
            let Some(value) = value else { continue };
            let register = self.assembly_register(t, u32::from(letter))?;
            self.assembly_set(t, register, value)?;
        }
        Ok(())
    }

    /// Writes a value to a register or to memory.
    fn x86_write(&mut self, t: &mut Translation, to: &Arg, value: Expr, ty: Ty) -> Step<()> {
        if let Some(register) = self.x86_register(t, to)? {
            let own = self.context(t.span)?.locals[register.0 as usize].ty.ty;
            // A byte or a half leaves the rest of its register.
            let (size, whole) =
                (self.unit.types.size(ty).unwrap_or(8), self.unit.types.size(own).unwrap_or(8));
            let value = if size < 4 && size < whole && t.fixed.iter().any(|(_, local)| *local == register) {
                let mask = (1u64 << (8 * size)) - 1;
                let before = self.assembly_get(t, register)?;
                let before = self.arith(ArithOp::And, before, int_expr(!mask, Ty::ULONG, t.span))?;
                let value = self.explicit_cast(value, Ty::ULONG.into(), t.span)?;
                let value = self.arith(ArithOp::And, value, int_expr(mask, Ty::ULONG, t.span))?;
                self.arith(ArithOp::Or, before, value)?
            } else {
                value
            };
            return self.assembly_set(t, register, value).map(Some);
        }
        let Some(place) = self.x86_memory(t, to, Some(ty))? else { return Ok(None) };
        let value = self.assembly_cast(t, value, place.ty.ty)?;
        let stored = self.assembly_atomic("__atomic_store_n", place, vec![value], RELEASE, t.span)?;
        t.stmts.push(Stmt { kind: StmtKind::Expr(Some(stored)), span: t.span });
        Ok(Some(()))
    }

    fn x86_exchange(&mut self, t: &mut Translation, a: &Arg, b: &Arg, ty: Ty) -> Step<()> {
        let (register, memory) = match self.x86_memory(t, a, Some(ty))? {
            Some(place) => (b, Some(place)),
            None => (a, self.x86_memory(t, b, Some(ty))?),
        };
        let Some(local) = self.x86_register(t, register)? else { return Ok(None) };
        let Some(value) = self.x86_value(t, register, ty)? else { return Ok(None) };
        let Some(place) = memory else { return Ok(None) };
        let old = self.x86_locked(t, "__atomic_exchange_n", place, vec![value])?;
        let old = self.assembly_get(t, old)?;
        self.assembly_set(t, local, old).map(Some)
    }

    /// The expected value is in the register `a`, which gets what was there.
    fn x86_compare_exchange(&mut self, t: &mut Translation, new: &Arg, to: &Arg, ty: Ty) -> Step<()> {
        let Some(place) = self.x86_memory(t, to, Some(ty))? else { return Ok(None) };
        let Some(new) = self.x86_value(t, new, ty)? else { return Ok(None) };
        let accumulator = self.assembly_register(t, u32::from('a'))?;
        let expected = self.assembly_get(t, accumulator)?;
        let expected = self.explicit_cast(expected, QTy::plain(ty), t.span)?;
        let expected = self.assembly_kept(t, expected)?;
        let wanted = self.assembly_get(t, expected)?;
        let old = self.x86_locked(t, "__sync_val_compare_and_swap", place, vec![wanted.clone(), new])?;
        let found = self.assembly_get(t, old)?;
        let same = self.arith(ArithOp::Eq, found.clone(), wanted)?;
        let zero = t.flags[0];
        self.assembly_set(t, zero, same)?;
        self.assembly_set(t, accumulator, found).map(Some)
    }

    /// Two words: the expected ones are in `d:a`, which get what was there, the new ones in `c:b`.
    fn x86_compare_exchange_two(&mut self, t: &mut Translation, to: &Arg) -> Step<()> {
        let two = self.int128();
        let Some(place) = self.x86_memory(t, to, Some(two))? else { return Ok(None) };
        let half = |local: LocalId, offset: u64| {
            let whole = Expr { kind: ExprKind::Local(local), ty: two.into(), span: t.span };
            Expr { kind: ExprKind::Member(Box::new(whole), offset, None), ty: Ty::ULONG.into(), span: t.span }
        };
        let [expected, new] = [self.temporary(two.into(), t.span)?, self.temporary(two.into(), t.span)?];
        let halves = [(expected, 0, 'a'), (expected, 8, 'd'), (new, 0, 'b'), (new, 8, 'c')];
        let places = halves.map(|(local, offset, _)| half(local, offset));
        for ((.., letter), place) in halves.into_iter().zip(places.clone()) {
            let register = self.assembly_register(t, u32::from(letter))?;
            let value = self.assembly_get(t, register)?;
            self.assembly_assign(t, place, value)?;
        }
        let mut args = vec![self.address_of(place, t.span)?];
        for local in [expected, new] {
            let object = Expr { kind: ExprKind::Local(local), ty: two.into(), span: t.span };
            args.push(self.address_of(object, t.span)?);
        }
        args.extend([0, SEQ_CST, SEQ_CST].map(|number| int_expr(number, Ty::INT, t.span)));
        self.assembly_fence(t, Fence::Mfence);
        let Some(done) = self.atomic_builtin("__atomic_compare_exchange", &mut args, t.span)? else {
            return Ok(None);
        };
        let zero = t.flags[0];
        self.assembly_set(t, zero, done)?;
        self.assembly_fence(t, Fence::Mfence);
        for ((.., letter), place) in halves.into_iter().zip(places).take(2) {
            let register = self.assembly_register(t, u32::from(letter))?;
            let found = self.rvalue(place)?;
            self.assembly_set(t, register, found)?;
        }
        Ok(Some(()))
    }

    fn x86_compare(&mut self, t: &mut Translation, base: &str, a: &Arg, b: &Arg, ty: Ty) -> Step<()> {
        let ty = self.unit.types.unsigned_of(if self.unit.types.is_pointer(ty) { Ty::ULONG } else { ty });
        let (Some(a), Some(b)) = (self.x86_value(t, a, ty)?, self.x86_value(t, b, ty)?) else {
            return Ok(None);
        };
        let result = match base {
            "test" => self.arith(ArithOp::And, b, a)?,
            _ => {
                let below = self.arith(ArithOp::Lt, b.clone(), a.clone())?;
                let carry = t.flags[2];
                self.assembly_set(t, carry, below)?;
                self.arith(ArithOp::Sub, b, a)?
            }
        };
        let result = self.explicit_cast(result, QTy::plain(ty), t.span)?;
        self.x86_flags(t, result).map(Some)
    }

    fn x86_modify(
        &mut self,
        t: &mut Translation,
        base: &str,
        from: &Arg,
        to: &Arg,
        ty: Ty,
        lock: bool,
    ) -> Step<()> {
        let ty = if self.unit.types.is_pointer(ty) { Ty::ULONG } else { ty };
        let Some(value) = self.x86_value(t, from, ty)? else { return Ok(None) };
        let (name, op) = match base {
            "add" | "inc" => ("__atomic_add_fetch", ArithOp::Add),
            "sub" | "dec" => ("__atomic_sub_fetch", ArithOp::Sub),
            "and" => ("__atomic_and_fetch", ArithOp::And),
            "or" => ("__atomic_or_fetch", ArithOp::Or),
            _ => ("__atomic_xor_fetch", ArithOp::Xor),
        };
        let result = if lock {
            let Some(place) = self.x86_memory(t, to, Some(ty))? else { return Ok(None) };
            let result = self.x86_locked(t, name, place, vec![value])?;
            self.assembly_get(t, result)?
        } else {
            let Some(before) = self.x86_value(t, to, ty)? else { return Ok(None) };
            let result = self.arith(op, before, value)?;
            let result = self.explicit_cast(result, QTy::plain(ty), t.span)?;
            let result = self.assembly_kept(t, result)?;
            let result = self.assembly_get(t, result)?;
            if self.x86_write(t, to, result.clone(), ty)?.is_none() {
                return Ok(None);
            }
            result
        };
        self.x86_flags(t, result).map(Some)
    }
}

/// The text with the first of the alternatives `{att|intel}`.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut skipped = false;
    for c in text.chars() {
        match c {
            '{' => {}
            '|' => skipped = true,
            '}' => skipped = false,
            _ if skipped => {}
            _ => out.push(c),
        }
    }
    out
}

/// An instruction and the size that its last letter names.
fn known_word(word: &str) -> Option<(&str, Option<char>)> {
    const KNOWN: [&str; 13] =
        ["mov", "xchg", "xadd", "cmpxchg", "add", "sub", "and", "or", "xor", "inc", "dec", "cmp", "test"];
    if KNOWN.contains(&word) || matches!(word, "rdtsc" | "rdtscp" | "cmpxchg16b") {
        return Some((word, None));
    }
    let (base, suffix) = word.split_at(word.len().checked_sub(1)?);
    let suffix = suffix.chars().next().filter(|c| "bwlq".contains(*c))?;
    KNOWN.contains(&base).then_some((base, Some(suffix)))
}

/// A jump: its condition and its target.
fn jump(line: &str) -> Option<(&str, &str)> {
    let (word, target) = line.split_once(char::is_whitespace)?;
    let condition = word.strip_prefix('j')?;
    Some((condition, target.trim()))
}

/// An instruction of one line, with its operands; `None` if it is nothing that is known here.
fn instruction(line: &str, names: &[Option<String>]) -> Option<(String, Vec<Arg>)> {
    if fences(line).is_some() && line != "lock" {
        return Some((line.to_string(), Vec::new()));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.to_ascii_lowercase();
    if word == "lock" {
        return rest.trim().is_empty().then(|| (word, Vec::new()));
    }
    if known_word(&word).is_none() && !word.starts_with("set") {
        return None;
    }
    let mut args = Vec::new();
    for part in operands(rest) {
        args.push(argument(part.trim(), names)?);
    }
    Some((word, args))
}

/// The parts between commas that stand in no parentheses.
fn operands(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ',' && depth == 0 {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

fn argument(text: &str, names: &[Option<String>]) -> Option<Arg> {
    if let Some(number) = text.strip_prefix('$') {
        return immediate(number).map(Arg::Immediate);
    }
    if let Some((displacement, inside)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) {
        let displacement = match displacement.trim() {
            "" => 0,
            number => immediate(number)?,
        };
        if matches!(inside.trim_start_matches('%'), "rsp" | "esp") {
            return Some(Arg::Stack);
        }
        return operand_number(inside, names).map(|n| Arg::Pointed(n, displacement));
    }
    if let Some(register) = text.strip_prefix("%%") {
        let letter = match register {
            "rax" | "eax" | "ax" | "al" => 'a',
            "rbx" | "ebx" | "bx" | "bl" => 'b',
            "rcx" | "ecx" | "cx" | "cl" => 'c',
            "rdx" | "edx" | "dx" | "dl" => 'd',
            _ => return None,
        };
        return Some(Arg::Register(letter));
    }
    operand_number(text, names).map(Arg::Operand)
}

/// `%0`, `%b0`, `%[name]`.
fn operand_number(text: &str, names: &[Option<String>]) -> Option<usize> {
    let rest = text.strip_prefix('%')?;
    let rest = rest.strip_prefix(['b', 'w', 'k', 'q', 'z']).unwrap_or(rest);
    if let Some(name) = rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
        return names.iter().position(|known| known.as_deref() == Some(name));
    }
    rest.parse().ok().filter(|n| *n < names.len())
}
