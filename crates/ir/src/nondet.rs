//! Nondeterministic values by intervals instead of one by one.
//!
//! The values that a choice may give are divided where comparisons with constants, assumptions and branches tell them apart. All
//! values of an interval then take the same way through the function, whatever else happens, and if nothing else looks at
//! the value on that way, one of them stands for all. An interval whose values are used as they are (in arithmetic, as an
//! address, stored, passed on) is listed value by value; so assumptions cut a large range before it is listed.
//!
//! As long as there is no other thread, a value that is stored and loaded again from the same address is still the value: `x =
//! nondet(); assume(x < 3);` cuts the range of a global `x` as well. Values that go on from there count as used.
//!
//! Each interval is followed through the function from the choice on by an abstract run that knows of a register that it is the
//! value, or a constant, or anything. A comparison that the interval does not decide divides it.

use crate::annotation::Order;
use crate::independent::narrow_choices;
use crate::program::{
    BinaryOp, Callee, Extend, Function, Instr, Label, Operand, Program, Reg, Rvalue, UnaryOp, Width,
};
use crate::property::Property;
use crate::value::Value;
use fencepost_diag::Span;
use std::collections::{BTreeMap, HashSet};

/// Choices among at most so many values stay as they are.
const FEW: u64 = 64;

/// A choice may list this many values in all.
const LISTED: u64 = 65_536;

/// A choice may be divided into so many intervals.
const INTERVALS: usize = 512;

/// Steps of an abstract run after which the values count as used.
const STEPS: usize = 20_000;

/// A choice whose values are too many to be listed.
#[derive(Clone, Debug, PartialEq)]
pub struct TooMany {
    /// Where it stands.
    pub span: Span,
    /// How many values are left.
    pub values: u128,
}

/// The program with its large choices divided. Where too many values are left, inputs that are only copied and compared are
/// narrowed first.
pub fn split_choices(program: &Program) -> Result<Program, TooMany> {
    split(program, false).or_else(|_| split(program, true))
}

fn split(program: &Program, narrows: bool) -> Result<Program, TooMany> {
    let mut program = program.clone();
    // The values of registers are observed there.
    if matches!(program.property, Property::Final(_)) {
        return Ok(program);
    }
    inline_choices(&mut program);
    if narrows {
        narrow_choices(&mut program, FEW);
    }
    let may_start = may_start_threads(&program);
    let main = program.threads.first().filter(|_| program.threads.len() == 1).map(|t| t.function.0);
    for (f, function) in (0..).zip(&mut program.functions) {
        // Up to here there is but one thread.
        let alone = if Some(f) == main { alone_until(function, &may_start) } else { 0 };
        split_function(function, alone)?;
    }
    Ok(program)
}

/// The functions that may start a thread, themselves or by what they call.
fn may_start_threads(program: &Program) -> Vec<bool> {
    let mut may = vec![false; program.functions.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (f, function) in program.functions.iter().enumerate() {
            if !may[f] && function.body.iter().any(|instr| starts(instr, &may)) {
                may[f] = true;
                changed = true;
            }
        }
    }
    may
}

fn starts(instr: &Instr, may: &[bool]) -> bool {
    match instr {
        Instr::Spawn { .. } | Instr::Call { callee: Callee::Pointer(_), .. } => true,
        Instr::Call { callee: Callee::Function(f), .. } => may[f.0 as usize],
        _ => false,
    }
}

/// The first instruction of the function that a process begins with at which there may be another thread.
fn alone_until(function: &Function, may: &[bool]) -> usize {
    let first = function.body.iter().position(|instr| starts(instr, may));
    let Some(first) = first else { return function.body.len() };
    let behind = (first..).zip(&function.body[first..]);
    behind.flat_map(|(at, instr)| instr.successors(at as u32)).map(|to| to as usize).fold(first, usize::min)
}

/// Calls of functions that only choose are choices.
fn inline_choices(program: &mut Program) {
    let chooses = |function: &Function| match &function.body[..] {
        [Instr::Nondet { dst, first, last }, Instr::Return(Some(Operand::Reg(result))), ..] => {
            (dst == result).then_some((*first, *last))
        }
        _ => None,
    };
    let choices: Vec<Option<(i64, i64)>> = program.functions.iter().map(chooses).collect();
    for instr in program.functions.iter_mut().flat_map(|f| &mut f.body) {
        if let Instr::Call { dst: Some(dst), callee: Callee::Function(id), .. } = instr
            && let Some((first, last)) = choices[id.0 as usize]
        {
            *instr = Instr::Nondet { dst: *dst, first, last };
        }
    }
}

fn count(first: i64, last: i64) -> u128 {
    (i128::from(last) - i128::from(first) + 1).max(0) as u128
}

fn split_function(function: &mut Function, alone: usize) -> Result<(), TooMany> {
    let mut plans: BTreeMap<usize, Vec<Choice>> = BTreeMap::new();
    for (at, instr) in function.body.iter().enumerate() {
        if let Instr::Nondet { dst, first, last } = *instr
            && count(first, last) > u128::from(FEW)
        {
            let choices = divide(function, alone, at, dst, first, last);
            let listed: u128 = choices.iter().filter(|c| c.used).map(|c| count(c.first, c.last)).sum();
            if listed > u128::from(LISTED) {
                let span = function.spans.get(at).copied().unwrap_or_default();
                return Err(TooMany { span, values: listed });
            }
            plans.insert(at, choices);
        }
    }
    if !plans.is_empty() {
        rewrite(function, &plans);
    }
    Ok(())
}

/// An interval of values; one stands for all unless they are used as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Choice {
    first: i64,
    last: i64,
    used: bool,
}

/// Divides the values of the choice at `at`.
fn divide(function: &Function, alone: usize, at: usize, dst: Reg, first: i64, last: i64) -> Vec<Choice> {
    let mut pending = vec![(first, last)];
    let mut done: Vec<Choice> = Vec::new();
    while let Some((first, last)) = pending.pop() {
        let room = done.len() + pending.len() < INTERVALS;
        match (Run { function, alone, first, last }).follow(at, dst) {
            Outcome::Split(point) if room && first < last => {
                // In the middle of three parts, the value is the constant.
                let before = (first <= point.saturating_sub(1) && point > first).then(|| (first, point - 1));
                let after = (point < last).then(|| (point + 1, last));
                let here = (first <= point && point <= last).then_some((point, point));
                pending.extend([after, here, before].into_iter().flatten());
            }
            Outcome::Unused => done.push(Choice { first, last, used: false }),
            _ => done.push(Choice { first, last, used: first < last }),
        }
    }
    done.sort_by_key(|choice| choice.first);
    done
}

/// What an abstract run found out about an interval.
enum Outcome {
    /// Every value takes the same way, and nothing looks at it.
    Unused,
    /// Values are used as they are.
    Used,
    /// A comparison tells values apart: below, at and above this one.
    Split(i64),
}

/// What is known of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Known {
    /// It is the value.
    Chosen,
    /// It is a constant.
    Constant(Value),
}

/// What is known of all registers, by number; nothing of those that are not listed.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct State {
    registers: BTreeMap<u32, Known>,
    /// Where the value was stored.
    stored: Option<(Address, Width)>,
}

/// The operand of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Address {
    Register(u32),
    Constant(u64),
}

impl Address {
    fn of(operand: Operand) -> Address {
        match operand {
            Operand::Reg(reg) => Address::Register(reg.0),
            Operand::Const(value) => Address::Constant(value.0),
        }
    }

    /// Whether they are surely in different objects.
    fn is_apart(self, other: Address) -> bool {
        let object = |address| match address {
            Address::Constant(value) => Value(value).as_pointer().map(|(object, _)| object),
            Address::Register(_) => None,
        };
        object(self).zip(object(other)).is_some_and(|(a, b)| a != b)
    }
}

impl State {
    fn get(&self, reg: &u32) -> Option<&Known> {
        self.registers.get(reg)
    }

    fn insert(&mut self, reg: u32, known: Known) {
        self.registers.insert(reg, known);
    }

    fn remove(&mut self, reg: &u32) {
        self.registers.remove(reg);
    }

    fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.stored.is_none()
    }
}

struct Run<'f> {
    function: &'f Function,
    /// There is no other thread before this instruction.
    alone: usize,
    first: i64,
    last: i64,
}

impl Run<'_> {
    fn follow(&self, at: usize, dst: Reg) -> Outcome {
        let mut state = State::default();
        state.insert(dst.0, self.chosen());
        let mut work = vec![(at + 1, state)];
        let mut seen: HashSet<(usize, State)> = HashSet::new();
        while let Some((at, state)) = work.pop() {
            // Without the value there is nothing to find out.
            if state.is_empty() || !seen.insert((at, state.clone())) {
                continue;
            }
            if seen.len() > STEPS {
                return Outcome::Used;
            }
            let Some(instr) = self.function.body.get(at) else { continue };
            match self.step(at, instr, state) {
                Ok(next) => work.extend(next),
                Err(outcome) => return outcome,
            }
        }
        Outcome::Unused
    }

    /// A single value is a constant.
    fn chosen(&self) -> Known {
        match self.first == self.last {
            true => Known::Constant(Value::from_i64(self.first)),
            false => Known::Chosen,
        }
    }

    fn operand(&self, state: &State, operand: Operand) -> Option<Known> {
        match operand {
            Operand::Reg(reg) => state.get(&reg.0).copied(),
            Operand::Const(value) => Some(Known::Constant(value)),
        }
    }

    /// Whether something is not zero; `Ok(None)` if that depends on other things than the value.
    fn truth(&self, known: Option<Known>) -> Result<Option<bool>, Outcome> {
        match known {
            None => Ok(None),
            Some(Known::Constant(value)) => Ok(Some(value.is_true())),
            Some(Known::Chosen) if self.first <= 0 && self.last >= 0 => Err(Outcome::Split(0)),
            Some(Known::Chosen) => Ok(Some(true)),
        }
    }

    fn step(&self, at: usize, instr: &Instr, mut state: State) -> Result<Vec<(usize, State)>, Outcome> {
        if let &Instr::Store { addr, value, width, ann } = instr
            && ann.order == Order::Plain
            && at < self.alone
            && self.store(&mut state, Address::of(addr), value, width)?
        {
            return Ok(vec![(at + 1, state)]);
        }
        match instr {
            _ if at >= self.alone && state.stored.is_some() => return Err(Outcome::Used),
            Instr::Assign { dst, value } => {
                if state.stored.is_some_and(|(address, _)| address == Address::Register(dst.0)) {
                    return Err(Outcome::Used);
                }
                match self.value(&state, value)? {
                    Some(known) => state.insert(dst.0, known),
                    None => state.remove(&dst.0),
                };
                return Ok(vec![(at + 1, state)]);
            }
            Instr::Branch { condition, then_to, else_to } => {
                let taken = self.truth(self.operand(&state, *condition))?;
                let ways = [(true, then_to), (false, else_to)].into_iter();
                let open = ways.filter(|(way, _)| taken.is_none_or(|taken| taken == *way));
                return Ok(open.map(|(_, label)| (label.0 as usize, state.clone())).collect());
            }
            Instr::Assume(condition) => {
                return Ok(match self.truth(self.operand(&state, *condition))? {
                    Some(false) => Vec::new(),
                    _ => vec![(at + 1, state)],
                });
            }
            Instr::Defined(_) => return Ok(vec![(at + 1, state)]),
            Instr::Assert { condition, .. } => {
                self.truth(self.operand(&state, *condition))?;
                return Ok(vec![(at + 1, state)]);
            }
            &(Instr::Load { dst, addr, width, extend, ann }
            | Instr::CopyLoad { dst, addr, width, extend, ann, .. })
                if ann.order == Order::Plain && state.stored.is_some() =>
            {
                let known = self.load(&state, Address::of(addr), width, extend)?;
                match known {
                    Some(known) => state.insert(dst.0, known),
                    None => state.remove(&dst.0),
                }
                let overwritten = |(address, _)| address == Address::Register(dst.0);
                return if state.stored.is_some_and(overwritten) {
                    Err(Outcome::Used)
                } else {
                    Ok(vec![(at + 1, state)])
                };
            }
            Instr::Jump(_) => {}
            // Whatever else is done may look at memory.
            _ if state.stored.is_some() => return Err(Outcome::Used),
            _ => {}
        }
        let mut used = false;
        instr.for_each_use(|reg| used |= state.get(&reg.0) == Some(&Known::Chosen));
        if used {
            return Err(Outcome::Used);
        }
        instr.for_each_definition(|reg| {
            state.remove(&reg.0);
        });
        Ok(instr.successors(at as u32).map(|next| (next as usize, state.clone())).collect())
    }

    /// A store while there is one thread: whether the value, or nothing that matters, was stored.
    fn store(&self, state: &mut State, to: Address, value: Operand, width: Width) -> Result<bool, Outcome> {
        let address_is_value =
            matches!(to, Address::Register(reg) if state.get(&reg) == Some(&Known::Chosen));
        let chosen = self.operand(state, value) == Some(Known::Chosen);
        match state.stored {
            _ if address_is_value => Err(Outcome::Used),
            Some((address, w)) if chosen => match (address, w) == (to, width) {
                true => Ok(true),
                false => Err(Outcome::Used),
            },
            Some((address, w)) if address == to && w == width => {
                state.stored = None;
                Ok(true)
            }
            Some((address, _)) if address.is_apart(to) => Ok(true),
            Some(_) => Err(Outcome::Used),
            None if chosen => {
                state.stored = Some((to, width));
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// A load while the value is in memory.
    fn load(
        &self,
        state: &State,
        from: Address,
        width: Width,
        extend: Extend,
    ) -> Result<Option<Known>, Outcome> {
        match state.stored {
            Some((address, w)) if address == from && w == width => match extend {
                Extend::Sign => self.converted(UnaryOp::SignExtend, width),
                Extend::Zero => self.converted(UnaryOp::ZeroExtend, width),
            },
            Some((address, _)) if address.is_apart(from) => Ok(None),
            _ => Err(Outcome::Used),
        }
    }

    fn value(&self, state: &State, value: &Rvalue) -> Result<Option<Known>, Outcome> {
        match *value {
            Rvalue::Use(a) => Ok(self.operand(state, a)),
            Rvalue::Unary(op, width, extend, a) => match self.operand(state, a) {
                None => Ok(None),
                Some(Known::Constant(a)) => {
                    Ok(Some(Known::Constant(width.extend(extend, op.apply(width, a)))))
                }
                Some(Known::Chosen) => self.converted(op, width),
            },
            Rvalue::Binary(op, width, extend, a, b) => {
                match (self.operand(state, a), self.operand(state, b)) {
                    (Some(Known::Chosen), Some(Known::Constant(c))) => self.compared(op, width, c, false),
                    (Some(Known::Constant(c)), Some(Known::Chosen)) => self.compared(op, width, c, true),
                    (Some(Known::Chosen), _) | (_, Some(Known::Chosen)) => Err(Outcome::Used),
                    // What is computed from constants is followed only as far as it is a truth value: counters
                    // would make every round of a loop another state.
                    (Some(Known::Constant(a)), Some(Known::Constant(b))) if is_comparison(op) => {
                        Ok(op.apply(width, a, b).map(|v| Known::Constant(width.extend(extend, v))))
                    }
                    _ => Ok(None),
                }
            }
            Rvalue::Select(condition, a, b) => match self.truth(self.operand(state, condition))? {
                Some(taken) => Ok(self.operand(state, if taken { a } else { b })),
                None => {
                    let (a, b) = (self.operand(state, a), self.operand(state, b));
                    match a == Some(Known::Chosen) || b == Some(Known::Chosen) {
                        true => Err(Outcome::Used),
                        false => Ok(a.filter(|_| a == b)),
                    }
                }
            },
        }
    }

    /// A conversion that changes no value of the interval, or a negation.
    fn converted(&self, op: UnaryOp, width: Width) -> Result<Option<Known>, Outcome> {
        let same = |value: i64| match op {
            UnaryOp::SignExtend => width.sign_extend(Value::from_i64(value)).as_i64() == value,
            UnaryOp::ZeroExtend => width.zero_extend(Value::from_i64(value)).as_i64() == value,
            _ => false,
        };
        match op {
            UnaryOp::LogicalNot => {
                let truth = self.truth(Some(Known::Chosen))?.unwrap_or(true);
                Ok(Some(Known::Constant(Value(u64::from(!truth)))))
            }
            // What both ends keep, everything between them keeps.
            _ if same(self.first) && same(self.last) => Ok(Some(Known::Chosen)),
            UnaryOp::ZeroExtend if self.first < 0 && self.last >= 0 => Err(Outcome::Split(-1)),
            _ => Err(Outcome::Used),
        }
    }

    /// A comparison with a constant.
    fn compared(
        &self,
        op: BinaryOp,
        width: Width,
        constant: Value,
        swapped: bool,
    ) -> Result<Option<Known>, Outcome> {
        if !is_comparison(op) {
            return Err(Outcome::Used);
        }
        let unsigned = matches!(op, BinaryOp::LtU | BinaryOp::LeU | BinaryOp::GtU | BinaryOp::GeU);
        // The order of the interval must be that of the comparison.
        if unsigned && self.first < 0 && self.last >= 0 {
            return Err(Outcome::Split(-1));
        }
        let fits = |value: i64| width.sign_extend(Value::from_i64(value)).as_i64() == value;
        let fits_unsigned = |value: i64| width.zero_extend(Value::from_i64(value)).as_i64() == value;
        let signed_order = fits(self.first) && fits(self.last);
        let unsigned_order = fits_unsigned(self.first) && fits_unsigned(self.last);
        let ordered = match op {
            BinaryOp::LtS | BinaryOp::LeS | BinaryOp::GtS | BinaryOp::GeS => signed_order,
            _ => signed_order || unsigned_order,
        };
        if !ordered {
            return Err(Outcome::Used);
        }
        // The constant as a number of the interval: as its own kind of number extends.
        let constant = match signed_order {
            true => width.sign_extend(constant).as_i64(),
            false => width.zero_extend(constant).as_i64(),
        };
        let result = |value: i64| {
            let (a, b) = (Value::from_i64(value), Value::from_i64(constant));
            let (a, b) = if swapped { (b, a) } else { (a, b) };
            op.apply(width, a, b).is_some_and(Value::is_true)
        };
        let (low, high) = (result(self.first), result(self.last));
        let equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        let inside = self.first <= constant && constant <= self.last;
        if low != high || (equality && inside) {
            // An unsigned comparison of negative numbers with a constant that is none of them is decided at both ends.
            return Err(if inside { Outcome::Split(constant) } else { Outcome::Used });
        }
        Ok(Some(Known::Constant(Value(u64::from(low)))))
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::LtU
            | BinaryOp::LtS
            | BinaryOp::LeU
            | BinaryOp::LeS
            | BinaryOp::GtU
            | BinaryOp::GtS
            | BinaryOp::GeU
            | BinaryOp::GeS
    )
}

/// Puts the divided choices into the function.
fn rewrite(function: &mut Function, plans: &BTreeMap<usize, Vec<Choice>>) {
    let which = function.new_reg("choice");
    let same = function.new_reg("chosen");
    let old = std::mem::take(&mut function.body);
    let spans = std::mem::take(&mut function.spans);
    // The new place of each instruction: choices grow.
    let mut places = Vec::with_capacity(old.len() + 1);
    let mut place = 0u32;
    for at in 0..old.len() {
        places.push(place);
        place += plans.get(&at).map_or(1, |choices| length(choices));
    }
    places.push(place);
    for (at, mut instr) in old.into_iter().enumerate() {
        let span = spans.get(at).copied().unwrap_or_default();
        if let (Some(choices), Instr::Nondet { dst, .. }) = (plans.get(&at), &instr) {
            let (dst, end) = (*dst, places[at + 1]);
            write_choices(function, choices, dst, which, same, end, span);
            continue;
        }
        match &mut instr {
            Instr::Jump(label) => *label = Label(places[label.0 as usize]),
            Instr::Branch { then_to, else_to, .. } => {
                *then_to = Label(places[then_to.0 as usize]);
                *else_to = Label(places[else_to.0 as usize]);
            }
            _ => {}
        }
        function.push(instr, span);
    }
}

/// How many instructions a divided choice takes.
fn length(choices: &[Choice]) -> u32 {
    match choices.len() {
        0 => 1,
        1 => 1,
        // The choice, then for each but the last a comparison, a branch, the value and a jump.
        n => 1 + 4 * (n as u32 - 1) + 1,
    }
}

fn write_choices(
    function: &mut Function,
    choices: &[Choice],
    dst: Reg,
    which: Reg,
    same: Reg,
    end: u32,
    span: Span,
) {
    let value = |choice: &Choice| match choice.used {
        true => Instr::Nondet { dst, first: choice.first, last: choice.last },
        false => Instr::Assign { dst, value: Rvalue::Use(Operand::Const(Value::from_i64(choice.first))) },
    };
    let Some((last, others)) = choices.split_last() else {
        // No value at all: never the case, as a choice has a first value.
        function.push(Instr::Assume(Operand::Const(Value::ZERO)), span);
        return;
    };
    if others.is_empty() {
        function.push(value(last), span);
        return;
    }
    function.push(Instr::Nondet { dst: which, first: 0, last: others.len() as i64 }, span);
    for (number, choice) in others.iter().enumerate() {
        let number = Operand::Const(Value(number as u64));
        let (op, width, extend) = (BinaryOp::Eq, Width::W64, crate::program::Extend::Zero);
        let equal = Rvalue::Binary(op, width, extend, which.into(), number);
        function.push(Instr::Assign { dst: same, value: equal }, span);
        let here = function.next_label().0;
        let (then_to, else_to) = (Label(here + 1), Label(here + 3));
        function.push(Instr::Branch { condition: same.into(), then_to, else_to }, span);
        function.push(value(choice), span);
        function.push(Instr::Jump(Label(end)), span);
    }
    function.push(value(last), span);
}
