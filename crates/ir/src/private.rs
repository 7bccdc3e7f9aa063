//! Local objects whose address goes nowhere: they are made, accessed and ended by the instructions of one function, and
//! every such instruction is known to mean that object and no other. An engine can keep their cells like registers.
//!
//! A forward data-flow analysis finds for every register the set of local objects that its value may point into. Pointer
//! arithmetic keeps the set. An object escapes where a pointer to it may be used for anything but an ordinary access, or
//! where an access may mean it or something else. Atomic accesses keep an object in memory too: their orders matter.

use crate::annotation::{Ann, Order};
use crate::program::{BinaryOp, Callee, Function, Instr, Operand, Program, Rvalue};
use std::collections::BTreeMap;

/// The private objects of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateObjects {
    /// The instruction that makes each of them.
    pub made_by: Vec<u32>,
    /// For each instruction: the private object that it makes, accesses or ends, as an index into `made_by`.
    pub object: Vec<Option<u32>>,
}

/// Objects that a value may point into, one bit each; the last bit stands for everything else.
type Targets = u64;
const ELSEWHERE: Targets = 1 << 63;

/// Finds the private objects of a function.
pub fn private_objects(function: &Function) -> PrivateObjects {
    let made_by = made_by(function);
    if made_by.is_empty() {
        return PrivateObjects { made_by, object: vec![None; function.body.len()] };
    }
    let analysis = Analysis::run(function, made_by);
    let kept: Vec<usize> = (0..analysis.made_by.len()).filter(|&k| analysis.escaped >> k & 1 == 0).collect();
    let object = (0..function.body.len())
        .map(|at| {
            let targets = analysis.target(at)?;
            kept.iter().position(|&k| targets == 1 << k).map(|k| k as u32)
        })
        .collect();
    PrivateObjects { made_by: kept.into_iter().map(|k| analysis.made_by[k]).collect(), object }
}

/// For each call of a known function that gets a pointer into local objects: the instructions that make these objects.
pub(crate) fn passed_to_calls(function: &Function) -> BTreeMap<u32, Vec<u32>> {
    let made_by = made_by(function);
    if made_by.is_empty() {
        return BTreeMap::new();
    }
    let analysis = Analysis::run(function, made_by);
    let passed = |at: u32, args: &[Operand]| -> Vec<u32> {
        let targets = args.iter().fold(0, |targets, &arg| targets | analysis.value(at, arg));
        (0..).zip(&analysis.made_by).filter(|(k, _)| targets >> k & 1 != 0).map(|(_, &made)| made).collect()
    };
    let call = |(at, instr): (u32, &Instr)| match instr {
        Instr::Call { callee: Callee::Function(_), args, .. } => Some((at, passed(at, args))),
        _ => None,
    };
    (0..).zip(&function.body).filter_map(call).filter(|(_, passed)| !passed.is_empty()).collect()
}

/// The instructions that make local objects; as many as there are bits.
fn made_by(function: &Function) -> Vec<u32> {
    let makes = |(at, instr): (usize, &Instr)| matches!(instr, Instr::Local { .. }).then_some(at as u32);
    function.body.iter().enumerate().filter_map(makes).take(63).collect()
}

/// Notes in a program which of its local objects are private; what is noted already stays.
pub fn mark_private_objects(program: &mut Program) {
    for function in &mut program.functions {
        for at in private_objects(function).made_by {
            if let Instr::Local { private, .. } = &mut function.body[at as usize] {
                *private = true;
            }
        }
    }
}

struct Analysis<'f> {
    function: &'f Function,
    made_by: Vec<u32>,
    /// What each register may point into before each instruction.
    before: Vec<Vec<Targets>>,
    escaped: Targets,
}

impl<'f> Analysis<'f> {
    fn run(function: &'f Function, made_by: Vec<u32>) -> Analysis<'f> {
        let registers = function.regs.len();
        let mut before = vec![vec![0; registers]; function.body.len() + 1];
        before[0].fill(ELSEWHERE);
        let mut analysis = Analysis { function, made_by, before, escaped: 0 };
        let mut visited = vec![false; function.body.len() + 1];
        let mut work = vec![0u32];
        while let Some(at) = work.pop() {
            let Some(instr) = function.body.get(at as usize) else { continue };
            visited[at as usize] = true;
            let after = analysis.after(at, instr);
            for next in instr.successors(at) {
                let known = &mut analysis.before[next as usize];
                let mut changed = !visited[next as usize];
                for (known, &new) in known.iter_mut().zip(&after) {
                    changed |= *known | new != *known;
                    *known |= new;
                }
                if changed {
                    work.push(next);
                }
            }
        }
        analysis
    }

    fn value(&self, at: u32, operand: Operand) -> Targets {
        match operand {
            Operand::Reg(reg) => self.before[at as usize][reg.0 as usize],
            Operand::Const(_) => 0,
        }
    }

    /// What an instruction makes, accesses or ends, if that is at least one local object.
    fn target(&self, at: usize) -> Option<Targets> {
        let targets = match &self.function.body[at] {
            Instr::Local { .. } => 1 << self.made_by.iter().position(|&made| made == at as u32)?,
            instr => self.value(at as u32, accessed(instr)?),
        };
        (targets & !ELSEWHERE != 0).then_some(targets)
    }

    /// The registers behind an instruction; notes what escapes in it.
    fn after(&mut self, at: u32, instr: &Instr) -> Vec<Targets> {
        let mut after = self.before[at as usize].clone();
        let address = accessed(instr);
        match (instr, address) {
            (Instr::Assign { dst, value }, _) => {
                after[dst.0 as usize] = self.assigned(at, value);
                return after;
            }
            (Instr::Defined(_), _) => return after,
            (_, Some(address)) => {
                let targets = self.value(at, address);
                if !(targets & !ELSEWHERE).is_power_of_two() || targets & ELSEWHERE != 0 {
                    self.escape(targets);
                }
                if let Instr::Store { value, .. } = instr {
                    self.escape(self.value(at, *value));
                }
            }
            _ => {
                let mut used = 0;
                instr.for_each_use(|reg| used |= self.before[at as usize][reg.0 as usize]);
                self.escape(used);
            }
        }
        instr.for_each_definition(|reg| after[reg.0 as usize] = ELSEWHERE);
        if let (Instr::Local { dst, .. }, Some(targets)) = (instr, self.target(at as usize)) {
            after[dst.0 as usize] = targets;
        }
        after
    }

    fn escape(&mut self, targets: Targets) {
        self.escaped |= targets & !ELSEWHERE;
    }

    fn assigned(&mut self, at: u32, value: &Rvalue) -> Targets {
        let objects = |targets: Targets| targets & !ELSEWHERE;
        match *value {
            Rvalue::Use(a) => match a {
                Operand::Reg(_) => self.value(at, a),
                Operand::Const(_) => ELSEWHERE,
            },
            Rvalue::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), _, _, a, b) => {
                let (a, b) = (self.value(at, a), self.value(at, b));
                match (objects(a), objects(b)) {
                    (0, 0) => ELSEWHERE,
                    (_, 0) => a,
                    (0, _) if op == BinaryOp::Add => b,
                    _ => {
                        self.escape(a | b);
                        ELSEWHERE
                    }
                }
            }
            Rvalue::Select(condition, a, b) => {
                self.escape(self.value(at, condition));
                let one = |operand| match operand {
                    Operand::Reg(_) => self.value(at, operand),
                    Operand::Const(_) => ELSEWHERE,
                };
                one(a) | one(b)
            }
            Rvalue::Unary(_, _, _, a) => {
                self.escape(self.value(at, a));
                ELSEWHERE
            }
            Rvalue::Binary(_, _, _, a, b) => {
                self.escape(self.value(at, a) | self.value(at, b));
                ELSEWHERE
            }
        }
    }
}

/// The address that an instruction accesses in an ordinary way, or whose object it ends.
fn accessed(instr: &Instr) -> Option<Operand> {
    let ordinary = |ann: &Ann| ann.order == Order::Plain && !ann.exclusive;
    match instr {
        Instr::Load { addr, ann, .. }
        | Instr::CopyLoad { addr, ann, .. }
        | Instr::Store { addr, ann, .. } => ordinary(ann).then_some(*addr),
        Instr::EndLocal(addr) => Some(*addr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Extend, Label, Object, Reg, Width};
    use crate::value::Value;
    use fencepost_diag::Span;

    const P: Operand = Operand::Reg(Reg(0));
    const Q: Operand = Operand::Reg(Reg(1));

    fn function(body: Vec<Instr>) -> Function {
        let spans = vec![Span::default(); body.len()];
        Function { name: "f".into(), params: 1, regs: vec![String::new(); 4], body, spans }
    }

    fn local(dst: u32) -> Instr {
        let object = Object::scalar("x", Width::W32, Value::ZERO, Span::default());
        Instr::Local { dst: Reg(dst), object: Box::new(object), private: false }
    }

    fn store(addr: Operand, value: Operand) -> Instr {
        Instr::Store { addr, value, width: Width::W32, ann: Ann::PLAIN }
    }

    fn add(dst: u32, a: Operand, b: Operand) -> Instr {
        Instr::Assign { dst: Reg(dst), value: Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, a, b) }
    }

    #[test]
    fn accesses_through_computed_addresses_are_known() {
        let one = Operand::Const(Value(1));
        let found =
            private_objects(&function(vec![local(0), add(1, P, one), store(Q, one), Instr::EndLocal(P)]));
        assert_eq!(found.made_by, [0]);
        assert_eq!(found.object, [Some(0), None, Some(0), Some(0)]);
    }

    #[test]
    fn a_pointer_that_is_stored_returned_or_compared_escapes() {
        let global = Operand::Const(Value::pointer(crate::ObjectId(0), 0));
        let equal = Rvalue::Binary(BinaryOp::Eq, Width::W64, Extend::Zero, P, Operand::Const(Value::ZERO));
        for leak in [
            store(global, P),
            Instr::Return(Some(P)),
            Instr::Assign { dst: Reg(1), value: equal },
            Instr::Lock(P),
        ] {
            let found = private_objects(&function(vec![local(0), leak]));
            assert_eq!(found.made_by, [], "{:?}", found.object);
        }
    }

    #[test]
    fn an_access_to_one_of_two_objects_keeps_neither() {
        // r2 = argument ? p : q
        let choice = Rvalue::Select(Operand::Reg(Reg(3)), P, Q);
        let body = vec![
            local(0),
            local(1),
            Instr::Assign { dst: Reg(2), value: choice },
            store(Operand::Reg(Reg(2)), Operand::Const(Value(1))),
        ];
        assert_eq!(private_objects(&function(body)).made_by, []);
    }

    #[test]
    fn a_pointer_that_may_be_an_argument_is_not_private() {
        // if (r3) r0 = &x; *r0 = 1, where r0 is the parameter
        let body = vec![
            Instr::Branch { condition: Operand::Reg(Reg(3)), then_to: Label(1), else_to: Label(2) },
            local(0),
            store(P, Operand::Const(Value(1))),
        ];
        assert_eq!(private_objects(&function(body)).made_by, []);
    }

    #[test]
    fn what_a_register_holds_depends_on_the_place() {
        // The same register is the pointer first and an argument of a store elsewhere later.
        let global = Operand::Const(Value::pointer(crate::ObjectId(0), 0));
        let body = vec![
            local(0),
            store(P, Operand::Const(Value(1))),
            Instr::Assign { dst: Reg(0), value: Rvalue::Use(Operand::Const(Value(7))) },
            store(global, P),
            Instr::Jump(Label(0)),
        ];
        assert_eq!(private_objects(&function(body)).made_by, [0]);
    }
}
