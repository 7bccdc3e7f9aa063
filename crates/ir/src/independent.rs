//! Inputs whose value cannot matter: few values stand for all of them.
//!
//! A program is data-independent in an input if the input is only copied and compared for equality `[Wolper, POPL 1986]`.
//! Renaming the values of such an input by a bijection that
//! keeps the constants which it may be compared with then makes a run of a run, whatever the memory model: the same accesses in
//! the same order, with renamed values. So with `k` choices in a
//! run, these constants and `k` other values are enough.
//!
//! Values of registers (what is set here and used there), results of functions and objects are put into one *class* where values
//! are copied from one to another, or compared. A class is independent if it holds nothing but choices of one range
//! and constants, and no copy or comparison is narrower than that range. Whatever else is done with a value spoils its class. An
//! access may be to any object unless its address is a
//! constant, or a register that is set once, from a constant or where a local object is made.

use crate::live::live_registers;
use crate::program::{
    BinaryOp, Callee, Extend, Function, Instr, Object, Operand, Program, Reg, RmwOp, Rvalue, UnaryOp, Width,
};
use crate::value::Value;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A narrowed choice may have so many values.
const MOST: i64 = 16;

/// Functions with more registers times instructions are left alone.
const LARGE: usize = 1 << 20;

/// What a narrowing depends on. Leaving one out makes wrong answers, which the tests of the tests want to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Arithmetic, order, and whatever else looks at a value spoils its class.
    Spoiled,
    /// Conversions and comparisons are as wide as the values.
    Widths,
    /// Constants that are copied or compared stay what they are.
    Constants,
    /// What is in memory is in the class of what is stored there.
    Memory,
    /// Memory that is reached by a pointer may be any.
    Pointers,
    /// What a function gets and returns is in the class of what it is given.
    Calls,
    /// There are as many values beside the constants as choices are made.
    Made,
    /// A choice in a loop is made any number of times.
    Repeats,
    /// So many times as its function is called.
    Runs,
    /// All choices of a class have one range.
    Ranges,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 10] = [
        Rule::Spoiled,
        Rule::Widths,
        Rule::Constants,
        Rule::Memory,
        Rule::Pointers,
        Rule::Calls,
        Rule::Made,
        Rule::Repeats,
        Rule::Runs,
        Rule::Ranges,
    ];
}

/// Narrows the choices of more than `few` values in independent classes.
pub fn narrow_choices(program: &mut Program, few: u64) {
    narrow_choices_without(program, few, None);
}

/// The same with a rule left out.
pub fn narrow_choices_without(program: &mut Program, few: u64, without: Option<Rule>) {
    let large = |instr: &Instr| match instr {
        Instr::Nondet { first, last, .. } => i128::from(*last) - i128::from(*first) >= i128::from(few),
        _ => false,
    };
    let sizes = program.functions.iter().map(|function| function.regs.len() * function.body.len());
    if sizes.sum::<usize>() > LARGE || !program.functions.iter().flat_map(|f| &f.body).any(large) {
        return;
    }
    let mut classes = Classes::new(program, without);
    for (f, function) in program.functions.iter().enumerate() {
        classes.flow(f, function);
        for (at, instr) in function.body.iter().enumerate() {
            classes.here = (f, at);
            classes.instr(program, instr);
        }
    }
    let counts = Counts::of(program, without);
    for (places, first, last) in classes.narrowed(program, &counts, few) {
        for (f, at) in places {
            if let Instr::Nondet { first: from, last: to, .. } = &mut program.functions[f].body[at] {
                (*from, *to) = (first, last);
            }
        }
    }
}

/// Choices, by function and instruction, and their first and last value.
type Narrowed = (BTreeSet<(usize, usize)>, i64, i64);

/// What is known of a class.
#[derive(Clone, Default, Debug)]
struct Class {
    spoiled: bool,
    constants: BTreeSet<i64>,
    choices: BTreeSet<(usize, usize)>,
    /// Conversions and comparisons: the width, and how what is left is extended (`None`: it is compared).
    widths: BTreeSet<(u32, Option<bool>)>,
}

/// Classes by union and find.
struct Classes {
    parent: Vec<usize>,
    class: Vec<Class>,
    /// Values of registers: function, instruction, register, and whether it is the value after the instruction.
    values: FxHashMap<(usize, usize, u32, bool), usize>,
    /// The function and instruction that are looked at.
    here: (usize, usize),
    /// The first object, behind the results of functions; behind the global ones stand the local ones, by the place where they
    /// are made.
    objects: usize,
    locals: BTreeMap<(usize, usize), usize>,
    count: usize,
    /// Where each register is set, by function, if there is one place.
    set: Vec<Vec<Option<usize>>>,
    without: Option<Rule>,
}

impl Classes {
    fn new(program: &Program, without: Option<Rule>) -> Classes {
        let objects = program.functions.len();
        let mut locals = BTreeMap::new();
        for (f, function) in program.functions.iter().enumerate() {
            for (at, _) in function.body.iter().enumerate().filter(|(_, i)| matches!(i, Instr::Local { .. }))
            {
                locals.insert((f, at), program.objects.len() + locals.len());
            }
        }
        let count = program.objects.len() + locals.len();
        let nodes = objects + count;
        let set = program.functions.iter().map(set_once).collect();
        let (parent, class) = ((0..nodes).collect(), vec![Class::default(); nodes]);
        let (values, here) = (FxHashMap::default(), (0, 0));
        let mut classes = Classes { parent, class, values, here, objects, locals, count, set, without };
        for (o, object) in program.objects.iter().enumerate() {
            classes.initial(o, object);
        }
        // What returns nothing returns zero.
        classes.class[..objects].iter_mut().for_each(|class| class.constants.extend([0]));
        for thread in &program.threads {
            for (reg, value) in (0..).zip(&thread.args) {
                let node = classes.value(thread.function.0 as usize, 0, Reg(reg), false);
                classes.at(node).constants.insert(value.as_i64());
            }
        }
        classes
    }

    /// What an object holds at first.
    fn initial(&mut self, number: usize, object: &Object) {
        for cell in &object.cells {
            let value = cell.init.map(|value| cell.width.zero_extend(value));
            self.at(self.objects + number).constants.extend(value.map(Value::as_i64));
        }
    }

    /// The object that an address is in, if that is known.
    fn object(&self, program: &Program, f: usize, addr: Operand) -> Option<usize> {
        let reg = match addr {
            Operand::Const(value) => {
                let object = value.as_pointer()?.0.0 as usize;
                return (object < program.objects.len()).then_some(object);
            }
            Operand::Reg(reg) => reg,
        };
        let at = self.set[f][reg.0 as usize]?;
        match program.functions[f].body[at] {
            Instr::Local { .. } => self.locals.get(&(f, at)).copied(),
            Instr::Assign { value: Rvalue::Use(from), .. } => self.object(program, f, from),
            // A member: so little further there is no other object.
            Instr::Assign { value: Rvalue::Binary(BinaryOp::Add, Width::W64, _, from, by), .. } => match by {
                Operand::Const(by) if (0..1 << 31).contains(&by.as_i64()) => self.object(program, f, from),
                _ => None,
            },
            _ => None,
        }
    }

    fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn at(&mut self, node: usize) -> &mut Class {
        let root = self.find(node);
        &mut self.class[root]
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            let other = std::mem::take(&mut self.class[b]);
            self.parent[b] = a;
            let class = &mut self.class[a];
            class.spoiled |= other.spoiled;
            class.constants.extend(other.constants);
            class.choices.extend(other.choices);
            class.widths.extend(other.widths);
        }
    }

    fn value(&mut self, f: usize, at: usize, reg: Reg, after: bool) -> usize {
        let next = self.parent.len();
        let node = *self.values.entry((f, at, reg.0, after)).or_insert(next);
        if node == next {
            self.parent.push(next);
            // Registers begin as zero; so every class of a register knows zero, and a test for it tells nothing new.
            self.class.push(Class { constants: BTreeSet::from([0]), ..Class::default() });
        }
        node
    }

    /// The value of a register that is used here.
    fn used(&mut self, reg: Reg) -> usize {
        self.value(self.here.0, self.here.1, reg, false)
    }

    /// The value that a register gets here.
    fn given(&mut self, reg: Reg) -> usize {
        self.value(self.here.0, self.here.1, reg, true)
    }

    /// What a register holds after an instruction it holds before the next, where somebody may still use it.
    fn flow(&mut self, f: usize, function: &Function) {
        let live = live_registers(function, &[]);
        for (at, instr) in function.body.iter().enumerate() {
            let mut set = BTreeSet::new();
            instr.for_each_definition(|reg| {
                set.insert(reg);
            });
            for next in instr.successors(at as u32).map(|next| next as usize) {
                let Some(wanted) = live.get(next) else { continue };
                for reg in wanted.iter() {
                    let here = self.value(f, at, reg, set.contains(&reg));
                    let there = self.value(f, next, reg, false);
                    self.join(here, there);
                }
            }
        }
    }

    /// A value goes to a node, or is compared with what is there.
    fn meet(&mut self, node: usize, operand: Operand) {
        match operand {
            Operand::Reg(reg) => {
                let used = self.used(reg);
                self.join(node, used);
            }
            Operand::Const(_) if self.is_out(Rule::Constants) => {}
            Operand::Const(value) => {
                self.at(node).constants.insert(value.as_i64());
            }
        }
    }

    fn is_out(&self, rule: Rule) -> bool {
        self.without == Some(rule)
    }

    /// A register gets what is at a node.
    fn give(&mut self, node: usize, reg: Reg) {
        let given = self.given(reg);
        self.join(node, given);
    }

    fn spoil(&mut self, operand: Operand) {
        if let (Operand::Reg(reg), false) = (operand, self.is_out(Rule::Spoiled)) {
            let node = self.used(reg);
            self.at(node).spoiled = true;
        }
    }

    fn spoil_given(&mut self, reg: Reg) {
        let node = self.given(reg);
        self.at(node).spoiled = true;
    }

    fn truth(&mut self, reg: Reg) {
        let node = self.given(reg);
        self.at(node).constants.extend([0, 1]);
    }

    /// The objects that an access may be to, as one node.
    fn memory(&mut self, program: &Program, addr: Operand) -> usize {
        self.spoil(addr);
        if self.is_out(Rule::Memory) {
            self.parent.push(self.parent.len());
            self.class.push(Class::default());
            return self.parent.len() - 1;
        }
        if let Some(object) = self.object(program, self.here.0, addr) {
            return self.objects + object;
        }
        if self.is_out(Rule::Pointers) {
            return self.objects;
        }
        for object in 1..self.count {
            self.join(self.objects, self.objects + object);
        }
        self.objects
    }

    fn width(&mut self, node: usize, width: Width, extend: Option<Extend>) {
        if self.is_out(Rule::Widths) {
            return;
        }
        let extend = extend.map(|extend| extend == Extend::Sign);
        self.at(node).widths.insert((width.bytes(), extend));
    }

    fn assign(&mut self, dst: Reg, value: &Rvalue) {
        match *value {
            Rvalue::Use(a) => {
                let node = self.given(dst);
                self.meet(node, a);
            }
            Rvalue::Unary(UnaryOp::SignExtend, width, Extend::Sign, a) => {
                let node = self.given(dst);
                self.meet(node, a);
                self.width(node, width, Some(Extend::Sign));
            }
            Rvalue::Unary(UnaryOp::ZeroExtend, width, Extend::Zero, a) => {
                let node = self.given(dst);
                self.meet(node, a);
                self.width(node, width, Some(Extend::Zero));
            }
            Rvalue::Unary(UnaryOp::LogicalNot, width, _, a) => {
                if let Operand::Reg(reg) = a {
                    let tested = self.used(reg);
                    self.width(tested, width, None);
                }
                self.truth(dst);
            }
            Rvalue::Binary(BinaryOp::Eq | BinaryOp::Ne, width, _, a, b) => {
                if let (Operand::Reg(reg), other) | (other, Operand::Reg(reg)) = (a, b) {
                    let compared = self.used(reg);
                    self.meet(compared, other);
                    self.width(compared, width, None);
                }
                self.truth(dst);
            }
            Rvalue::Select(_, a, b) => {
                let node = self.given(dst);
                self.meet(node, a);
                self.meet(node, b);
            }
            Rvalue::Unary(_, _, _, a) => {
                self.spoil(a);
                self.spoil_given(dst);
            }
            Rvalue::Binary(_, _, _, a, b) => {
                [a, b].into_iter().for_each(|operand| self.spoil(operand));
                self.spoil_given(dst);
            }
        }
    }

    fn instr(&mut self, program: &Program, instr: &Instr) {
        match *instr {
            Instr::Assign { dst, ref value } => self.assign(dst, value),
            Instr::Load { dst, addr, width, extend, .. }
            | Instr::CopyLoad { dst, addr, width, extend, .. } => {
                let memory = self.memory(program, addr);
                self.give(memory, dst);
                self.width(memory, width, Some(extend));
            }
            Instr::Store { addr, value, width, .. } => {
                let memory = self.memory(program, addr);
                self.meet(memory, value);
                self.width(memory, width, None);
            }
            Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
                let memory = self.memory(program, addr);
                [expected, desired].into_iter().for_each(|operand| self.meet(memory, operand));
                dst.into_iter().for_each(|dst| self.give(memory, dst));
                self.width(memory, width, None);
                self.width(memory, width, Some(extend));
                success.into_iter().for_each(|reg| self.truth(reg));
            }
            Instr::Rmw { dst, addr, width, extend, op: RmwOp::Exchange, operand, .. } => {
                let memory = self.memory(program, addr);
                self.meet(memory, operand);
                dst.into_iter().for_each(|dst| self.give(memory, dst));
                self.width(memory, width, None);
                self.width(memory, width, Some(extend));
            }
            Instr::Nondet { dst, .. } => {
                let (node, here) = (self.given(dst), self.here);
                self.at(node).choices.insert(here);
            }
            Instr::Call { dst, callee: Callee::Function(g), ref args } => {
                self.pass(program, g.0 as usize, args);
                dst.into_iter().for_each(|dst| self.give(g.0 as usize, dst));
            }
            Instr::Spawn { dst, callee: Callee::Function(g), ref args } => {
                self.pass(program, g.0 as usize, args);
                // Its result may be joined anywhere.
                self.at(g.0 as usize).spoiled = true;
                dst.into_iter().for_each(|dst| self.spoil_given(dst));
            }
            Instr::Return(Some(value)) => self.meet(self.here.0, value),
            Instr::Branch { .. } | Instr::Assume(_) | Instr::Assert { .. } => {}
            Instr::Fence(_) | Instr::Jump(_) | Instr::Return(None) | Instr::Defined(_) | Instr::Round(_) => {}
            Instr::Local { dst, ref object, .. } => {
                self.spoil_given(dst);
                self.initial(self.locals[&self.here], object);
            }
            Instr::EndLocal(_) => {}
            Instr::Join { thread, dst } => {
                self.spoil(thread);
                dst.into_iter().for_each(|dst| self.spoil_given(dst));
            }
            Instr::Fail { .. } | Instr::Halt | Instr::Cut | Instr::AtomicBegin | Instr::AtomicEnd => {}
            Instr::Lock(addr) | Instr::Unlock(addr) => {
                let memory = self.memory(program, addr);
                self.at(memory).spoiled = true;
            }
            _ => self.anything(program, instr),
        }
    }

    /// An instruction that may do anything to what it touches, and to memory.
    fn anything(&mut self, program: &Program, instr: &Instr) {
        let (mut used, mut given) = (Vec::new(), Vec::new());
        instr.for_each_use(|reg| used.push(reg));
        instr.for_each_definition(|reg| given.push(reg));
        used.into_iter().for_each(|reg| self.spoil(reg.into()));
        given.into_iter().for_each(|reg| self.spoil_given(reg));
        for object in 0..self.count {
            self.at(self.objects + object).spoiled = true;
        }
        if let Instr::Call { .. } | Instr::Spawn { .. } = instr {
            for (g, function) in program.functions.iter().enumerate() {
                self.at(g).spoiled = true;
                for reg in 0..function.params {
                    let parameter = self.value(g, 0, Reg(reg), false);
                    self.at(parameter).spoiled = true;
                }
            }
        }
    }

    fn pass(&mut self, program: &Program, g: usize, args: &[Operand]) {
        if self.is_out(Rule::Calls) {
            return;
        }
        for (reg, &arg) in (0..program.functions[g].params).zip(args) {
            let parameter = self.value(g, 0, Reg(reg), false);
            self.meet(parameter, arg);
        }
    }

    /// Choices of independent classes, with the range that is enough for them.
    fn narrowed(&mut self, program: &Program, counts: &Counts, few: u64) -> Vec<Narrowed> {
        let roots: BTreeSet<usize> = (0..self.parent.len()).map(|node| self.find(node)).collect();
        let mut found = Vec::new();
        for root in roots {
            let class = &self.class[root];
            let range = |&(f, at): &(usize, usize)| match program.functions[f].body[at] {
                Instr::Nondet { first, last, .. } => Some((first, last)),
                _ => None,
            };
            let ranges: BTreeSet<(i64, i64)> = class.choices.iter().filter_map(range).collect();
            let ranges: Vec<(i64, i64)> = ranges.into_iter().collect();
            let (first, last) = match ranges[..] {
                [range] => range,
                [range, ..] if self.without == Some(Rule::Ranges) => range,
                _ => continue,
            };
            let many = i128::from(last) - i128::from(first) >= i128::from(few);
            // Every width keeps all values and constants, as numbers of one kind: those that are equal there are equal.
            let kept = [true, false].into_iter().any(|signed| {
                let values = class.constants.iter().chain([&first, &last]);
                values.into_iter().all(|&value| class.widths.iter().all(|&width| keeps(width, value, signed)))
            });
            let made: Option<u64> = class.choices.iter().map(|&(f, at)| counts.at(program, f, at)).sum();
            let inside = class.constants.range(first..=last);
            let (low, high) = inside.fold((0, 0), |(low, high), &c| (low.min(c), high.max(c)));
            let (Some(made), true) = (made, many && kept && !class.spoiled) else { continue };
            let made = if self.without == Some(Rule::Made) { made - 1 } else { made };
            let enough = i64::try_from(made).ok().and_then(|made| high.checked_add(made));
            if let Some(enough) = enough
                && low >= 0
                && first <= 0
                && enough <= last.min(MOST)
            {
                found.push((class.choices.clone(), 0, enough));
            }
        }
        found
    }
}

/// Where each register is set, if that is one place and it is no parameter.
fn set_once(function: &Function) -> Vec<Option<usize>> {
    let mut places = vec![Vec::new(); function.regs.len()];
    for (at, instr) in function.body.iter().enumerate() {
        instr.for_each_definition(|reg| places[reg.0 as usize].push(at));
    }
    let once = |(reg, places): (usize, &Vec<usize>)| match places[..] {
        [at] if reg >= function.params as usize => Some(at),
        _ => None,
    };
    places.iter().enumerate().map(once).collect()
}

/// A conversion at a width gives the value again; a comparison tells it apart from all others that it keeps.
fn keeps((bytes, extend): (u32, Option<bool>), value: i64, signed: bool) -> bool {
    let bits = 8 * bytes;
    if bits >= 64 {
        return true;
    }
    match extend.unwrap_or(signed) {
        true => (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(&value),
        false => (0..1i64 << bits).contains(&value),
    }
}

/// How often functions run at most.
struct Counts {
    runs: BTreeMap<usize, Option<u64>>,
    without: Option<Rule>,
}

impl Counts {
    fn of(program: &Program, without: Option<Rule>) -> Counts {
        let mut counts = Counts { runs: BTreeMap::new(), without };
        for f in 0..program.functions.len() {
            counts.runs(program, f);
        }
        counts
    }

    fn runs(&mut self, program: &Program, f: usize) -> Option<u64> {
        if let Some(known) = self.runs.get(&f) {
            return *known;
        }
        // Whoever is asked again while this is being found calls itself.
        self.runs.insert(f, None);
        let mut count =
            Some(program.threads.iter().filter(|thread| thread.function.0 as usize == f).count() as u64);
        for (g, function) in program.functions.iter().enumerate() {
            for (at, instr) in function.body.iter().enumerate() {
                let calls = match instr {
                    Instr::Call { callee, .. } | Instr::Spawn { callee, .. } => match callee {
                        Callee::Function(callee) => callee.0 as usize == f,
                        Callee::Pointer(_) => true,
                    },
                    _ => false,
                };
                if calls {
                    let runs = if repeats(function, at) { None } else { self.runs(program, g) };
                    count = count.zip(runs).and_then(|(a, b)| a.checked_add(b));
                }
            }
        }
        self.runs.insert(f, count);
        count
    }

    /// How often an instruction runs at most.
    fn at(&self, program: &Program, f: usize, at: usize) -> Option<u64> {
        let repeats = self.without != Some(Rule::Repeats) && repeats(&program.functions[f], at);
        match self.without {
            Some(Rule::Runs) => Some(1),
            _ if repeats => None,
            _ => self.runs.get(&f).copied().flatten(),
        }
    }
}

/// An instruction may run more than once in one call.
fn repeats(function: &Function, at: usize) -> bool {
    let mut seen = BTreeSet::new();
    let successors = |at: usize| function.body[at].successors(at as u32).map(|to| to as usize);
    let mut work: Vec<usize> = successors(at).collect();
    while let Some(next) = work.pop() {
        if next == at {
            return true;
        }
        if next < function.body.len() && seen.insert(next) {
            work.extend(successors(next));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Ann;
    use crate::program::{ObjectId, Thread};
    use fencepost_diag::Span;

    /// `n = choice; x = n; r = x; assert(...)`.
    fn program(last: Rvalue) -> Program {
        let mut main = Function { name: "main".into(), ..Function::default() };
        let (n, r, t) = (main.new_reg("n"), main.new_reg("r"), main.new_reg("t"));
        let addr = Operand::Const(Value::pointer(ObjectId(0), 0));
        let (width, extend, ann) = (Width::W32, Extend::Sign, Ann::PLAIN);
        for instr in [
            Instr::Nondet { dst: n, first: i64::from(i32::MIN), last: i64::from(i32::MAX) },
            Instr::Store { addr, value: n.into(), width, ann },
            Instr::Load { dst: r, addr, width, extend, ann },
            Instr::Assign { dst: t, value: last },
            Instr::Assert { condition: t.into(), kind: crate::FailKind::Assertion, message: String::new() },
            Instr::Return(None),
        ] {
            main.push(instr, Span::default());
        }
        let threads = vec![Thread { name: "main".into(), function: crate::FunctionId(0), args: Vec::new() }];
        let objects = vec![Object::scalar("x", Width::W32, Value::ZERO, Span::default())];
        Program { functions: vec![main], threads, objects, ..Program::default() }
    }

    fn range(last: Rvalue) -> (i64, i64) {
        let mut program = program(last);
        narrow_choices(&mut program, 64);
        match program.functions[0].body[0] {
            Instr::Nondet { first, last, .. } => (first, last),
            _ => unreachable!("it is a choice"),
        }
    }

    #[test]
    fn copies_and_equality_need_few_values() {
        let compared = |b: Operand| Rvalue::Binary(BinaryOp::Eq, Width::W32, Extend::Zero, Reg(1).into(), b);
        assert_eq!(range(compared(Reg(0).into())), (0, 1));
        assert_eq!(range(compared(Value(5).into())), (0, 6));
    }

    #[test]
    fn arithmetic_and_order_need_all() {
        for op in [BinaryOp::Add, BinaryOp::LtS] {
            let last = Rvalue::Binary(op, Width::W32, Extend::Sign, Reg(1).into(), Reg(0).into());
            assert_eq!(range(last).0, i64::from(i32::MIN), "{op:?}");
        }
        let narrow = Rvalue::Unary(UnaryOp::SignExtend, Width::W8, Extend::Sign, Reg(1).into());
        assert_eq!(range(narrow).0, i64::from(i32::MIN), "what differs above eight bits is lost");
        let minus_one = Value(u64::from(u32::MAX)).into();
        let equal = Rvalue::Binary(BinaryOp::Eq, Width::W32, Extend::Zero, Reg(1).into(), minus_one);
        assert_eq!(range(equal).0, i64::from(i32::MIN), "the constant is another number of 32 bits");
    }
}
