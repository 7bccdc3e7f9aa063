//! Bounded loops: a program in which every loop goes back to its head at most `bound` times after it was entered, so
//! that its body runs at most `bound + 1` times. This is the meaning of herd7's `-unroll`, except that herd7 does not
//! start to count afresh when an inner loop is entered again.
//!
//! A back edge is an edge to an instruction that is on the path of a depth-first walk from the entry; its target is the
//! loop's head. Each head gets a counter register of the jumps that are left, set on every other edge into the head and
//! decreased on its back edges; a back edge at zero goes to [`Instr::Cut`] instead.
//! The counter depends on no load, so bounding adds no dependencies.
//!
//! A loop that counts needs no bound: every way out of it is decided by values that no load, choice or call within the
//! loop influences. How often it runs is settled when it is entered, so `for (i = 0; i < n; i++)` runs `n` times,
//! whatever the bound. What is read from a constant, such as a string literal or a table, is no such value.

use crate::program::{BinaryOp, Extend, Function, Instr, Label, Operand, Program, Reg, Rvalue, Width};
use crate::value::Value;
use fencepost_diag::Span;

/// The program with all loops bounded that do not count; a program without such loops is unchanged.
pub fn bound_loops(program: &Program, bound: u32) -> Program {
    let tables: Vec<Vec<bool>> =
        program.functions.iter().map(|function| constant_pointers(program, function)).collect();
    bound_where(program, bound, |number, function, back, head| {
        !is_counting(function, back, head, &tables[number])
    })
}

/// The registers of a function that point into constants, whenever they have a value: all that is assigned to them is the address
/// of a
/// constant, or such a register with a number added. An access through them that leaves the constant is an error of its own.
fn constant_pointers(program: &Program, function: &Function) -> Vec<bool> {
    let params = function.params as usize;
    let mut points: Vec<bool> = (0..function.regs.len()).map(|reg| reg >= params).collect();
    let is_constant = |value: Value| {
        let object = value.as_pointer().and_then(|(object, _)| program.objects.get(object.0 as usize));
        object.is_some_and(|object| object.constant)
    };
    loop {
        let known = points.clone();
        let into = |operand: &Operand| match operand {
            Operand::Reg(reg) => known[reg.0 as usize],
            Operand::Const(value) => is_constant(*value),
        };
        let mut defined = vec![false; points.len()];
        for instr in &function.body {
            let keeps = match instr {
                Instr::Assign { value: Rvalue::Use(operand), .. } => into(operand),
                Instr::Assign { value: Rvalue::Binary(BinaryOp::Add, Width::W64, _, a, b), .. } => {
                    into(a) || into(b)
                }
                Instr::Assign { value: Rvalue::Select(_, a, b), .. } => into(a) && into(b),
                _ => false,
            };
            instr.for_each_definition(|reg| {
                defined[reg.0 as usize] = true;
                points[reg.0 as usize] &= keeps;
            });
        }
        points.iter_mut().zip(&defined).for_each(|(points, defined)| *points &= defined);
        if points == known {
            return points;
        }
    }
}

fn bound_where(
    program: &Program,
    bound: u32,
    wanted: impl Fn(usize, &Function, &[(u32, u32)], u32) -> bool,
) -> Program {
    let mut program = program.clone();
    for (number, function) in program.functions.iter_mut().enumerate() {
        let mut back = back_edges(function);
        let mut heads = heads_of(&back);
        heads.retain(|&head| wanted(number, function, &back, head));
        back.retain(|(_, to)| heads.contains(to));
        if !back.is_empty() {
            *function = Unroller::new(function, back, bound).run();
        }
    }
    program
}

/// The edges that close a loop, as (from, to), found by a depth-first walk from the entry.
fn back_edges(function: &Function) -> Vec<(u32, u32)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; function.body.len()];
    let mut edges = Vec::new();
    let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
    let enter = |at: u32, marks: &mut Vec<Mark>| {
        marks[at as usize] = Mark::Open;
        let mut next: Vec<u32> = function.body[at as usize].successors(at).collect();
        next.reverse();
        (at, next)
    };
    if !function.body.is_empty() {
        path.push(enter(0, &mut marks));
    }
    while let Some((at, rest)) = path.last_mut() {
        let at = *at;
        match rest.pop() {
            None => {
                marks[at as usize] = Mark::Done;
                path.pop();
            }
            Some(to) if to as usize >= function.body.len() => {}
            Some(to) => match marks[to as usize] {
                Mark::New => path.push(enter(to, &mut marks)),
                Mark::Open => edges.push((at, to)),
                Mark::Done => {}
            },
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn heads_of(back: &[(u32, u32)]) -> Vec<u32> {
    let mut heads: Vec<u32> = back.iter().map(|&(_, to)| to).collect();
    heads.sort_unstable();
    heads.dedup();
    heads
}

/// The instructions of the loop with this head: those from which a back edge to it can be reached without passing it.
fn loop_body(function: &Function, back: &[(u32, u32)], head: u32) -> Vec<bool> {
    let mut inside = vec![false; function.body.len()];
    inside[head as usize] = true;
    let mut work: Vec<u32> = back.iter().filter(|&&(_, to)| to == head).map(|&(from, _)| from).collect();
    while let Some(at) = work.pop() {
        if std::mem::replace(&mut inside[at as usize], true) {
            continue;
        }
        let leads_here = |(from, instr): (usize, &Instr)| {
            instr.successors(from as u32).any(|next| next == at).then_some(from as u32)
        };
        work.extend(function.body.iter().enumerate().filter_map(leads_here));
    }
    inside
}

/// Whether the ways out of a loop depend on counting alone: no value that a load, a choice or a call within the loop
/// gave, and no branch on such a value, has a say in them.
fn is_counting(function: &Function, back: &[(u32, u32)], head: u32, tables: &[bool]) -> bool {
    let inside = loop_body(function, back, head);
    let is_inside = |at: u32| inside.get(at as usize).copied().unwrap_or(false);
    let leaves = |at: u32| !function.body[at as usize].successors(at).all(is_inside);
    let mut data = DataInLoop::new(function, &inside, head, tables);
    // A branch on data makes more registers depend on data, which may make more branches do so.
    while data.spread() {}
    let branch = |at: u32| matches!(function.body[at as usize], Instr::Branch { .. });
    let mut exits =
        (0..inside.len() as u32).filter(|&at| is_inside(at) && leaves(at) && branch(at)).peekable();
    exits.peek().is_some() && exits.all(|at| !data.decides(at)) && data.decides_no_exit(leaves)
}

/// Which registers hold values that depend on what a loop reads, before each instruction of it.
struct DataInLoop<'f> {
    function: &'f Function,
    inside: &'f [bool],
    head: u32,
    /// Registers that point into constants.
    tables: &'f [bool],
    before: Vec<Vec<bool>>,
    /// Registers that hold one value or another, for a branch on data, where its ways meet again.
    merged: Vec<Vec<bool>>,
}

impl<'f> DataInLoop<'f> {
    fn new(function: &'f Function, inside: &'f [bool], head: u32, tables: &'f [bool]) -> DataInLoop<'f> {
        let nothing = vec![vec![false; function.regs.len()]; inside.len()];
        DataInLoop { function, inside, head, tables, before: nothing.clone(), merged: nothing }
    }

    fn members(&self) -> impl Iterator<Item = u32> + use<'f> {
        let inside = self.inside;
        (0..inside.len() as u32).filter(|&at| inside[at as usize])
    }

    /// Whether the instruction uses a value that depends on data.
    fn decides(&self, at: u32) -> bool {
        let mut found = false;
        self.function.body[at as usize].for_each_use(|reg| found |= self.before[at as usize][reg.0 as usize]);
        found
    }

    /// One round; true if something changed.
    fn spread(&mut self) -> bool {
        let mut changed = false;
        for at in self.members() {
            let instr = &self.function.body[at as usize];
            let mut after = self.before[at as usize].clone();
            let settled = match instr {
                Instr::Assign { .. } => true,
                Instr::Load { addr: Operand::Reg(address), .. } => self.tables[address.0 as usize],
                _ => false,
            };
            let dependent = !settled || self.decides(at);
            instr.for_each_definition(|reg| after[reg.0 as usize] = dependent);
            for next in instr.successors(at).filter(|&next| self.inside.get(next as usize) == Some(&true)) {
                let merged = &self.merged[next as usize];
                for (reg, known) in self.before[next as usize].iter_mut().enumerate() {
                    let new = after[reg] | merged[reg];
                    changed |= new && !*known;
                    *known |= new;
                }
            }
            if matches!(instr, Instr::Branch { .. }) && self.decides(at) {
                changed |= self.merge(at);
            }
        }
        changed
    }

    /// Notes what a branch on data leaves open where its ways meet again.
    fn merge(&mut self, branch: u32) -> bool {
        let ways: Vec<Vec<bool>> =
            self.function.body[branch as usize].successors(branch).map(|to| self.reached(to)).collect();
        let on_all = |at: u32| ways.iter().all(|way| way[at as usize]);
        let on_some = |at: u32| ways.iter().any(|way| way[at as usize]) && !on_all(at);
        let mut open = vec![false; self.function.regs.len()];
        for at in self.members().filter(|&at| on_some(at)) {
            self.function.body[at as usize].for_each_definition(|reg| open[reg.0 as usize] = true);
        }
        let mut changed = false;
        for from in self.members().filter(|&at| on_some(at) || at == branch) {
            for to in self.function.body[from as usize].successors(from) {
                if self.inside.get(to as usize) != Some(&true) || !(on_all(to) || to == self.head) {
                    continue;
                }
                for (known, &new) in self.merged[to as usize].iter_mut().zip(&open) {
                    changed |= new && !*known;
                    *known |= new;
                }
            }
        }
        changed
    }

    /// Whether each branch on data leads to the same ways out, whatever the data: data must not decide whether it comes to
    /// a test that may leave the loop.
    fn decides_no_exit(&self, leaves: impl Fn(u32) -> bool) -> bool {
        let on_data =
            |&at: &u32| matches!(self.function.body[at as usize], Instr::Branch { .. }) && self.decides(at);
        self.members().filter(on_data).all(|branch| {
            let successors = self.function.body[branch as usize].successors(branch);
            let ways: Vec<Vec<bool>> = successors.map(|to| self.reached(to)).collect();
            let mut exits = self.members().filter(|&at| leaves(at));
            exits.all(|at| ways.iter().all(|way| way[at as usize] == ways[0][at as usize]))
        })
    }

    /// What can be reached within the same run of the loop's body.
    fn reached(&self, start: u32) -> Vec<bool> {
        let mut seen = vec![false; self.inside.len()];
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            if at != self.head
                && self.inside.get(at as usize) == Some(&true)
                && !std::mem::replace(&mut seen[at as usize], true)
            {
                work.extend(self.function.body[at as usize].successors(at));
            }
        }
        seen
    }
}

/// A loop head: its counter, and where its two trampolines stand in the new body.
struct Head {
    at: u32,
    counter: Reg,
    enter: Label,
    again: Label,
}

struct Unroller<'f> {
    old: &'f Function,
    back: Vec<(u32, u32)>,
    bound: u32,
    heads: Vec<Head>,
    /// New label of each old one, the exit included.
    labels: Vec<Label>,
    new: Function,
}

impl<'f> Unroller<'f> {
    fn new(old: &'f Function, back: Vec<(u32, u32)>, bound: u32) -> Unroller<'f> {
        let mut new = Function {
            name: old.name.clone(),
            params: old.params,
            regs: old.regs.clone(),
            ..Function::default()
        };
        let heads = heads_of(&back)
            .into_iter()
            .map(|at| Head {
                at,
                counter: new.new_reg(format!("loop@{at}")),
                enter: Label(0),
                again: Label(0),
            })
            .collect();
        Unroller { old, back, bound, heads, labels: Vec::new(), new }
    }

    fn run(mut self) -> Function {
        self.place();
        if self.starts_in_head() {
            self.new.push(Instr::Jump(self.heads[0].enter), self.old.spans[0]);
        }
        for at in 0..self.old.body.len() as u32 {
            let span = self.old.spans[at as usize];
            let instr = match self.old.body[at as usize].clone() {
                Instr::Jump(to) => Instr::Jump(self.target(at, to.0)),
                Instr::Branch { condition, then_to, else_to } => Instr::Branch {
                    condition,
                    then_to: self.target(at, then_to.0),
                    else_to: self.target(at, else_to.0),
                },
                other => other,
            };
            self.new.push(instr, span);
            if self.falls_into_head(at) {
                let to = self.target(at, at + 1);
                self.new.push(Instr::Jump(to), span);
            }
        }
        self.new.push(Instr::Return(None), Span::default());
        self.trampolines();
        self.new
    }

    /// Heads are sorted, so only the first can be the entry.
    fn starts_in_head(&self) -> bool {
        self.heads.first().is_some_and(|h| h.at == 0)
    }

    fn falls_into_head(&self, at: u32) -> bool {
        let falls = !matches!(
            self.old.body[at as usize],
            Instr::Jump(_) | Instr::Branch { .. } | Instr::Return(_) | Instr::Cut
        );
        falls && self.heads.iter().any(|h| h.at == at + 1)
    }

    /// Decides where everything goes: the old body with a jump before heads, a return, then the trampolines.
    fn place(&mut self) {
        let mut next = u32::from(self.starts_in_head());
        for at in 0..self.old.body.len() as u32 {
            self.labels.push(Label(next));
            next += 1 + u32::from(self.falls_into_head(at));
        }
        self.labels.push(Label(next));
        next += 1;
        for head in &mut self.heads {
            head.enter = Label(next);
            head.again = Label(next + 2);
            next += 2 + 4;
        }
    }

    /// The new target of an edge.
    fn target(&self, from: u32, to: u32) -> Label {
        match self.heads.iter().find(|h| h.at == to) {
            Some(head) if self.back.contains(&(from, to)) => head.again,
            Some(head) => head.enter,
            None => self.labels[to as usize],
        }
    }

    fn trampolines(&mut self) {
        for head in &self.heads {
            let span = self.old.spans[head.at as usize];
            let start = self.labels[head.at as usize];
            let mut emit = |instr| self.new.push(instr, span);
            let constant = |n: u32| Operand::Const(Value(u64::from(n)));
            let left = Operand::Reg(head.counter);
            let less = Rvalue::Binary(BinaryOp::Sub, Width::W64, Extend::Zero, left, constant(1));
            emit(Instr::Assign { dst: head.counter, value: Rvalue::Use(constant(self.bound)) });
            emit(Instr::Jump(start));
            let (then_to, else_to) = (Label(head.again.0 + 1), Label(head.again.0 + 3));
            emit(Instr::Branch { condition: left, then_to, else_to });
            emit(Instr::Assign { dst: head.counter, value: less });
            emit(Instr::Jump(start));
            emit(Instr::Cut);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::Fence;

    /// Runs a function of assignments, fences, jumps and branches; returns the number of fences and whether it was cut.
    fn run(function: &Function) -> (u32, bool) {
        let mut regs = vec![0u64; function.regs.len()];
        let (mut at, mut fences) = (0usize, 0);
        let value = |regs: &[u64], operand: Operand| match operand {
            Operand::Reg(r) => regs[r.0 as usize],
            Operand::Const(v) => v.0,
        };
        while at < function.body.len() {
            let mut next = at + 1;
            match &function.body[at] {
                Instr::Assign { dst, value: Rvalue::Use(a) } => regs[dst.0 as usize] = value(&regs, *a),
                Instr::Assign { dst, value: Rvalue::Binary(op, w, _, a, b) } => {
                    let (a, b) = (Value(value(&regs, *a)), Value(value(&regs, *b)));
                    regs[dst.0 as usize] = op.apply(*w, a, b).map_or(0, |v| v.0);
                }
                Instr::Fence(_) => fences += 1,
                Instr::Jump(to) => next = to.0 as usize,
                Instr::Branch { condition, then_to, else_to } => {
                    let to = if value(&regs, *condition) != 0 { then_to } else { else_to };
                    next = to.0 as usize;
                }
                Instr::Return(_) => return (fences, false),
                Instr::Cut => return (fences, true),
                other => panic!("{other:?}"),
            }
            at = next;
        }
        (fences, false)
    }

    fn function(body: Vec<Instr>, regs: u32) -> Program {
        let spans = vec![Span::default(); body.len()];
        let regs = (0..regs).map(|i| i.to_string()).collect();
        let function = Function { name: "f".into(), params: 0, regs, body, spans };
        Program { functions: vec![function], ..Program::default() }
    }

    #[test]
    fn an_endless_loop_is_cut_after_the_bound() {
        let fence = || Instr::Fence(Fence::Mfence);
        for lead in [0, 2] {
            let mut body: Vec<Instr> = (0..lead).map(|_| fence()).collect();
            body.extend([fence(), Instr::Jump(Label(lead))]);
            let bounded = bound_loops(&function(body, 0), 3);
            assert_eq!(run(&bounded.functions[0]), (lead + 4, true));
        }
    }

    #[test]
    fn an_inner_loop_starts_afresh_in_each_run_of_the_outer_one() {
        // r0 = 2; do { r1 = 2; do { fence; r1 -= 1 } while (r1); r0 -= 1 } while (r0)
        let constant = |n: u64| Rvalue::Use(Operand::Const(Value(n)));
        let less = |r: u32| {
            let (a, b) = (Operand::Reg(Reg(r)), Operand::Const(Value(1)));
            Instr::Assign {
                dst: Reg(r),
                value: Rvalue::Binary(BinaryOp::Sub, Width::W64, Extend::Zero, a, b),
            }
        };
        let again = |r: u32, to: u32, out: u32| Instr::Branch {
            condition: Operand::Reg(Reg(r)),
            then_to: Label(to),
            else_to: Label(out),
        };
        let body = vec![
            Instr::Assign { dst: Reg(0), value: constant(2) },
            Instr::Assign { dst: Reg(1), value: constant(2) },
            Instr::Fence(Fence::Mfence),
            less(1),
            again(1, 2, 5),
            less(0),
            again(0, 1, 7),
        ];
        let program = function(body, 2);
        let all = |bound| bound_where(&program, bound, |_, _, _, _| true);
        assert_eq!(run(&all(1).functions[0]), (4, false));
        assert_eq!(run(&all(0).functions[0]), (1, true));
        assert_eq!(run(&bound_loops(&program, 0).functions[0]), (4, false), "these loops count");
    }

    #[test]
    fn a_loop_that_data_has_a_say_in_does_not_count() {
        let constant = |n: u64| Operand::Const(Value(n));
        let (count, read) = (Operand::Reg(Reg(0)), Operand::Reg(Reg(1)));
        let less = Rvalue::Binary(BinaryOp::Sub, Width::W64, Extend::Zero, count, constant(1));
        let address = constant(Value::pointer(crate::ObjectId(0), 0).0);
        let load = |dst: u32| Instr::Load {
            dst: Reg(dst),
            addr: address,
            width: Width::W64,
            extend: Extend::Zero,
            ann: crate::Ann::PLAIN,
        };
        let again = |condition, to: u32, out: u32| Instr::Branch {
            condition,
            then_to: Label(to),
            else_to: Label(out),
        };
        let counts = |body: Vec<Instr>| {
            let function = &function(body, 2).functions[0];
            let back = back_edges(function);
            is_counting(function, &back, back[0].1, &vec![false; function.regs.len()])
        };
        let down = || Instr::Assign { dst: Reg(0), value: less };
        // do { read; r0 -= 1 } while (r0)
        assert!(counts(vec![load(1), down(), again(count, 0, 3)]));
        // do { r0 -= 1; r1 = r0; if (r1) continue; else break; r1 = read }: the register is used for both
        let copy = Instr::Assign { dst: Reg(1), value: Rvalue::Use(count) };
        assert!(counts(vec![down(), copy, again(read, 3, 5), load(1), Instr::Jump(Label(0))]));
        // do { r0 = read; r0 -= 1 } while (r0)
        assert!(!counts(vec![load(0), down(), again(count, 0, 3)]));
        // do { read; if (read) break; r0 -= 1 } while (r0)
        assert!(!counts(vec![load(1), again(read, 4, 2), down(), again(count, 0, 4)]));
        // do { read; if (read) r0 -= 1 } while (r0)
        assert!(!counts(vec![load(1), again(read, 2, 3), down(), again(count, 0, 4)]));
        // again: for (r0 = 2; r0; r0 -= 1) { read; if (read) goto again }
        let start = Instr::Assign { dst: Reg(0), value: Rvalue::Use(constant(2)) };
        let outer =
            vec![start, again(count, 2, 6), load(1), again(read, 0, 4), down(), Instr::Jump(Label(1))];
        let function = &function(outer, 2).functions[0];
        assert!(!is_counting(function, &back_edges(function), 0, &vec![false; function.regs.len()]));
        // for (;;) read
        assert!(!counts(vec![load(1), Instr::Jump(Label(0))]));
    }

    #[test]
    fn a_program_without_loops_is_unchanged() {
        let program = function(vec![Instr::Jump(Label(2)), Instr::Cut, Instr::Return(None)], 0);
        assert_eq!(bound_loops(&program, 2), program);
    }
}
