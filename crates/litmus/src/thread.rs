//! Building one thread: its registers, labels and instructions.
//!
//! A machine register is known by a small number, its key, that the architecture chooses; it becomes a register of the
//! IR when it is first mentioned. Branches to labels that are not yet defined are patched by [`ThreadBuilder::finish`].
//! Values between the steps of one machine instruction, and condition flags, live in registers of their own; an
//! assignment to one of these that nothing reads is dropped at the end, so that a compare costs what its branch needs.

use crate::Line;
use crate::error::{Parsed, suggest};
use fencepost_diag::Diagnostic;
use fencepost_ir::{Extend, Function, Instr, Label, Operand, Reg, Rvalue, Span, Value, Width};

/// A machine register, as numbered by its architecture.
pub(crate) type Key = u8;

/// The first key for names that the architecture does not know: symbolic registers such as `%x0`.
pub(crate) const FIRST_SYMBOLIC: Key = 128;

/// Which target of a branch waits for a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Then,
    Else,
    Jump,
}

/// A thread under construction.
pub(crate) struct ThreadBuilder<'a> {
    /// The number in `P0`.
    pub(crate) number: u32,
    pub(crate) function: Function,
    /// Values of the function's parameters, which are the registers with an initial value.
    pub(crate) args: Vec<Value>,
    /// Machine register to IR register, counted from 1; 0 is none.
    keys: [u16; 256],
    symbolic: Vec<&'a str>,
    labels: Vec<(&'a str, Label, Span)>,
    fixups: Vec<(usize, Side, &'a str, Span)>,
    /// Registers that the source cannot name: flags and intermediate values.
    hidden: Vec<Reg>,
    temporaries: Vec<Reg>,
    /// Assignments, loads and the like that fill a register from 32 bits, see [`ThreadBuilder::narrow_write`].
    narrow_writes: Vec<(usize, Reg)>,
    /// Registers whose upper half is read.
    wide_reads: Vec<Reg>,
    /// The upper half of the first register comes from that of the second, see [`ThreadBuilder::carries`].
    carried: Vec<(Reg, Reg)>,
    /// Comparisons of words that look at whole registers, see [`ThreadBuilder::compares_words`].
    word_compares: Vec<(usize, Reg, Operand)>,
    /// Accesses of 64 bits that stand for 128.
    pub(crate) doubles: Vec<usize>,
    /// Where the instruction at hand stands; given to everything that is emitted.
    pub(crate) span: Span,
    /// What was read of it, as text.
    pub(crate) lines: Vec<Line>,
}

impl<'a> ThreadBuilder<'a> {
    pub(crate) fn new(number: u32) -> ThreadBuilder<'a> {
        let function = Function { name: format!("P{number}"), ..Function::default() };
        ThreadBuilder {
            number,
            function,
            args: Vec::new(),
            keys: [0; 256],
            symbolic: Vec::new(),
            labels: Vec::new(),
            fixups: Vec::new(),
            hidden: Vec::new(),
            temporaries: Vec::new(),
            narrow_writes: Vec::new(),
            wide_reads: Vec::new(),
            doubles: Vec::new(),
            carried: Vec::new(),
            word_compares: Vec::new(),
            span: Span::default(),
            lines: Vec::new(),
        }
    }

    /// The IR register of a machine register.
    pub(crate) fn register(&mut self, key: Key, name: impl FnOnce() -> String) -> Reg {
        if let Some(reg) = self.keys[key as usize].checked_sub(1) {
            return Reg(u32::from(reg));
        }
        let reg = self.function.new_reg(name());
        // There are at most 256 keys and a handful of temporaries.
        self.keys[key as usize] = reg.0 as u16 + 1;
        reg
    }

    /// The key of a symbolic register; `None` if the thread names too many.
    pub(crate) fn symbolic_key(&mut self, name: &'a str) -> Option<Key> {
        let index = self.symbolic.iter().position(|&n| n == name).unwrap_or_else(|| {
            self.symbolic.push(name);
            self.symbolic.len() - 1
        });
        Key::try_from(index + FIRST_SYMBOLIC as usize).ok()
    }

    /// A register that the source cannot name, such as a condition flag.
    pub(crate) fn hidden_register(&mut self, key: Key, name: &str) -> Reg {
        let is_new = self.keys[key as usize] == 0;
        let reg = self.register(key, || name.to_string());
        if is_new {
            self.hidden.push(reg);
        }
        reg
    }

    /// The `index`-th register for intermediate values.
    pub(crate) fn temporary(&mut self, index: usize) -> Reg {
        while self.temporaries.len() <= index {
            let name = format!("${}", self.temporaries.len());
            let reg = self.function.new_reg(name);
            self.temporaries.push(reg);
            self.hidden.push(reg);
        }
        self.temporaries[index]
    }

    /// Makes a register a parameter with this value. Only before anything else makes a register.
    pub(crate) fn parameter(&mut self, reg: Reg, value: Value) {
        debug_assert_eq!(reg.0 as usize, self.args.len());
        self.args.push(value);
        self.function.params += 1;
    }

    /// Appends an instruction.
    pub(crate) fn emit(&mut self, instr: Instr) {
        let span = self.span;
        self.function.push(instr, span);
    }

    /// Says whether the next access stands for one of 128 bits.
    pub(crate) fn next_is_double(&mut self, is_double: bool) {
        if is_double {
            self.doubles.push(self.function.body.len());
        }
    }

    /// Lets the instructions from `first` on that belong to the source at `start` end at `end`.
    pub(crate) fn widen_spans(&mut self, first: usize, start: u32, end: u32) {
        for span in &mut self.function.spans[first..] {
            if span.start == start {
                span.end = end;
            }
        }
    }

    /// Appends `dst = value`.
    pub(crate) fn assign(&mut self, dst: Reg, value: Rvalue) {
        self.emit(Instr::Assign { dst, value });
    }

    /// Remembers that the instruction just emitted fills all of `reg` from 32 bits, with zeros.
    ///
    /// herd7 prints a register of a test as a signed 32-bit number. If nothing ever reads the upper half of the
    /// register, filling it with the sign instead cannot be noticed and makes the number come out right; `finish` does
    /// so. Where the upper half is read, the zeros stay.
    pub(crate) fn narrow_write(&mut self, reg: Reg) {
        self.narrow_writes.push((self.function.body.len() - 1, reg));
    }

    /// Remembers that all 64 bits of a register are read.
    pub(crate) fn wide_read(&mut self, reg: Reg) {
        self.wide_reads.push(reg);
    }

    /// Remembers that an operation on 64 bits makes `dst` of `src`: if the upper half of `dst` is read, so is that of
    /// `src`.
    pub(crate) fn carries(&mut self, dst: Reg, src: Reg) {
        self.carried.push((dst, src));
    }

    /// Remembers, if `is_word`, that the instruction just emitted compares the lower halves of its operands. It may look
    /// at all of them as long as both have copies of the sign above.
    pub(crate) fn compares_words(&mut self, is_word: bool, a: Reg, b: Operand) {
        if is_word {
            self.word_compares.push((self.function.body.len() - 1, a, b));
        }
    }

    /// Defines a label here.
    pub(crate) fn define_label(&mut self, name: &'a str, span: Span) -> Parsed<()> {
        if let Some(&(_, _, earlier)) = self.labels.iter().find(|l| l.0 == name) {
            let message = format!("label `{name}` is defined twice in thread {}", self.number);
            let error = Diagnostic::error(span, message).label("defined again here");
            return Err(Box::new(error.related(earlier, "first defined here")));
        }
        self.labels.push((name, self.function.next_label(), span));
        Ok(())
    }

    /// Jumps to a label.
    pub(crate) fn jump(&mut self, label: &'a str, span: Span) {
        self.fixups.push((self.function.body.len(), Side::Jump, label, span));
        self.emit(Instr::Jump(Label(0)));
    }

    /// Goes to a label if the condition is not zero (or is zero), else falls through.
    pub(crate) fn branch(
        &mut self,
        condition: impl Into<Operand>,
        if_zero: bool,
        label: &'a str,
        span: Span,
    ) {
        let here = self.function.body.len();
        let next = Label(here as u32 + 1);
        self.fixups.push((here, if if_zero { Side::Else } else { Side::Then }, label, span));
        self.emit(Instr::Branch { condition: condition.into(), then_to: next, else_to: next });
    }

    /// Appends a branch or jump whose targets are set later by [`ThreadBuilder::patch`].
    pub(crate) fn emit_open(&mut self, condition: Option<Operand>) -> usize {
        let here = self.function.body.len();
        let next = Label(here as u32 + 1);
        self.emit(match condition {
            Some(condition) => Instr::Branch { condition, then_to: next, else_to: next },
            None => Instr::Jump(next),
        });
        here
    }

    /// Sets a target of an open branch: where it goes if the condition is zero, or where the jump goes.
    pub(crate) fn patch(&mut self, at: usize, target: Label) {
        match &mut self.function.body[at] {
            Instr::Branch { else_to, .. } => *else_to = target,
            Instr::Jump(to) => *to = target,
            _ => {}
        }
    }

    /// Sets where an open branch goes if the condition is not zero.
    pub(crate) fn patch_then(&mut self, at: usize, target: Label) {
        if let Instr::Branch { then_to, .. } = &mut self.function.body[at] {
            *then_to = target;
        }
    }

    /// Resolves labels and drops what nothing reads.
    pub(crate) fn finish(&mut self) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        for (at, side, name, span) in std::mem::take(&mut self.fixups) {
            let Some(&(_, target, _)) = self.labels.iter().find(|l| l.0 == name) else {
                let message = format!("thread {} has no label `{name}`", self.number);
                let error = Box::new(Diagnostic::error(span, message).label("no such label in this thread"));
                errors.push(*suggest(error, name, self.labels.iter().map(|l| l.0)));
                continue;
            };
            match (&mut self.function.body[at], side) {
                (Instr::Branch { then_to, .. }, Side::Then) => *then_to = target,
                (Instr::Branch { else_to, .. }, Side::Else) => *else_to = target,
                (Instr::Jump(to), Side::Jump) => *to = target,
                _ => {}
            }
        }
        self.choose_signs();
        if !self.hidden.is_empty() {
            self.drop_unread();
        }
        errors
    }

    fn choose_signs(&mut self) {
        loop {
            let known = &self.wide_reads;
            let is_new = |pair: &&(Reg, Reg)| known.contains(&pair.0) && !known.contains(&pair.1);
            let Some(&(_, src)) = self.carried.iter().find(is_new) else { break };
            self.wide_reads.push(src);
        }
        let keeps_zeros = |operand: Operand| match operand {
            Operand::Reg(reg) => {
                self.wide_reads.contains(&reg) && self.narrow_writes.iter().any(|write| write.1 == reg)
            }
            Operand::Const(_) => false,
        };
        for &(at, a, b) in &self.word_compares {
            if (keeps_zeros(a.into()) || keeps_zeros(b))
                && let Instr::Assign { value: Rvalue::Binary(_, width, ..), .. } = &mut self.function.body[at]
            {
                *width = Width::W32;
            }
        }
        for &(at, reg) in &self.narrow_writes {
            if self.wide_reads.contains(&reg) {
                continue;
            }
            match &mut self.function.body[at] {
                Instr::Load { extend, .. }
                | Instr::Rmw { extend, .. }
                | Instr::CompareExchange { extend, .. } => *extend = Extend::Sign,
                Instr::Assign { value, .. } => match value {
                    Rvalue::Unary(_, _, extend, _) | Rvalue::Binary(_, _, extend, _, _) => {
                        *extend = Extend::Sign
                    }
                    Rvalue::Use(Operand::Const(constant)) => *constant = Width::W32.sign_extend(*constant),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// Removes assignments to hidden registers that no instruction reads.
    fn drop_unread(&mut self) {
        loop {
            let mut read = vec![false; self.function.regs.len()];
            for instr in &self.function.body {
                instr.for_each_operand(|operand| {
                    if let Operand::Reg(reg) = operand {
                        read[reg.0 as usize] = true;
                    }
                });
            }
            let dead = |instr: &Instr| match instr {
                Instr::Assign { dst, .. } => !read[dst.0 as usize] && self.hidden.contains(dst),
                _ => false,
            };
            let keep: Vec<bool> = self.function.body.iter().map(|instr| !dead(instr)).collect();
            if keep.iter().all(|&k| k) {
                return;
            }
            self.compact(&keep);
        }
    }

    /// Keeps the marked instructions and moves labels along.
    fn compact(&mut self, keep: &[bool]) {
        let mut moved = Vec::with_capacity(keep.len() + 1);
        let mut next = 0;
        for &kept in keep {
            moved.push(next);
            next += u32::from(kept);
        }
        moved.push(next);
        let relocate = |label: &mut Label| label.0 = moved[label.0 as usize];
        let mut marks = keep.iter();
        self.function.body.retain_mut(|instr| {
            match instr {
                Instr::Jump(to) => relocate(to),
                Instr::Branch { then_to, else_to, .. } => {
                    relocate(then_to);
                    relocate(else_to);
                }
                _ => {}
            }
            marks.next().copied().unwrap_or(true)
        });
        let mut marks = keep.iter();
        self.function.spans.retain(|_| marks.next().copied().unwrap_or(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::BinaryOp;

    #[test]
    fn unread_flags_disappear_and_labels_follow() {
        let mut thread = ThreadBuilder::new(0);
        let r1 = thread.register(1, || "r1".into());
        let flag = thread.hidden_register(40, "cr0");
        let other = thread.hidden_register(41, "cr1");
        let compare = Rvalue::Binary(BinaryOp::Sub, Width::W64, Extend::Sign, r1.into(), r1.into());
        thread.assign(other, compare);
        thread.assign(flag, compare);
        thread.branch(flag, true, "L", Span::default());
        thread.define_label("L", Span::default()).unwrap();
        assert!(thread.finish().is_empty());
        assert_eq!(thread.function.body.len(), 2);
        let to = Label(2);
        assert_eq!(
            thread.function.body[1],
            Instr::Branch { condition: flag.into(), then_to: to, else_to: to }
        );
    }

    #[test]
    fn a_missing_label_is_an_error_with_a_guess() {
        let mut thread = ThreadBuilder::new(0);
        thread.define_label("LC00", Span::default()).unwrap();
        thread.jump("LC0O", Span::default());
        let errors = thread.finish();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].hints, ["did you mean `LC00`?"]);
        assert!(thread.define_label("LC00", Span::default()).is_err());
    }
}
