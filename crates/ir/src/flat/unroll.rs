//! Walks the control-flow graphs of a thread and lays its steps out.
//!
//! A *place* is an instruction in a copy of a function in certain rounds of the loops around it. Its key is a list of
//! numbers: for each frame and each loop around it the loop's head in reverse postorder and the round, then the
//! instruction, then what was done on the way. All edges go to places with larger keys, so places are taken by increasing key,
//! each once, when everything that leads there has been laid out.
//!
//! A round of a loop that did nothing that others could notice, and that hands no register on to the next round, is *idle*. A run
//! with idle rounds is a run
//! without them: loads, fences and branches only ever hold others back. So nothing goes back after an idle round
//! ([`Options::skip_idle`]). To know whether a round is
//! idle, ways that have done something and ways that have not are kept apart to the end of the round.

use super::heap::{Allocated, find_cells};
use super::loops::Loops;
use super::objects::{Env, Known, Private, merge, operand};
use super::{Flat, FlatThread, Op, Options, Step, Unsupported};
use crate::program::{
    BinaryOp, Callee, Extend, FailKind, FunctionId, Instr, Object, ObjectId, Operand, Program, Reg, Rvalue,
    Width,
};
use crate::value::Value;
use fencepost_diag::Span;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most threads of a program.
const MAX_THREADS: usize = 64;
/// The target that ends the thread, the one where the bound cuts, and the one where an idle round would begin again.
const END: usize = 0;
const CUT: usize = 1;
const IDLE: usize = 2;

type Key = Vec<u32>;

/// A copy of a function.
pub(super) struct Frame {
    function: usize,
    /// Its first register.
    pub base: u32,
    prefix: Key,
    depth: u32,
    /// Where to go on after it, and who receives its result.
    back: Option<(Place, Option<Reg>)>,
}

/// A place.
#[derive(Clone)]
pub(super) struct Place {
    pub frame: usize,
    pub pc: u32,
    /// The round of each loop around it, outermost first.
    rounds: Vec<u32>,
    /// Something was done since the function began, and in this round of each loop around it; also true where nobody asks.
    worked: Vec<bool>,
}

struct Pending {
    place: Place,
    env: Env,
    target: usize,
}

/// What threads share while they are laid out.
pub(super) struct Shared<'p> {
    pub program: &'p Program,
    pub options: Options,
    pub objects: Vec<Object>,
    pub private: FxHashMap<u32, Private>,
    loops: Vec<Option<Rc<Loops>>>,
    pub copies: FxHashMap<(usize, u32), ObjectId>,
    pub allocated: Vec<Allocated>,
    spawned: Vec<NewThread>,
    cuts: bool,
}

struct NewThread {
    name: String,
    function: FunctionId,
    args: Vec<Value>,
    parent: Option<(usize, usize)>,
}

pub(super) fn flatten(program: &Program, options: Options) -> Result<Flat, Unsupported> {
    let spawned = program.threads.iter().map(|thread| NewThread {
        name: thread.name.clone(),
        function: thread.function,
        args: thread.args.clone(),
        parent: None,
    });
    let mut shared = Shared {
        program,
        options,
        objects: program.objects.clone(),
        private: FxHashMap::default(),
        loops: vec![None; program.functions.len()],
        copies: FxHashMap::default(),
        allocated: Vec::new(),
        spawned: spawned.collect(),
        cuts: false,
    };
    let mut threads = Vec::new();
    while threads.len() < shared.spawned.len() {
        let number = threads.len();
        let thread = Layout::new(&mut shared, number)?.run()?;
        threads.push(thread);
    }
    let mut flat = Flat { threads, objects: shared.objects, cuts: shared.cuts };
    find_cells(&mut flat, &shared.allocated)?;
    Ok(flat)
}

impl Shared<'_> {
    fn loops(&mut self, function: usize) -> Result<Rc<Loops>, Unsupported> {
        if let Some(loops) = &self.loops[function] {
            return Ok(loops.clone());
        }
        let outermost = self.program.threads.iter().any(|thread| thread.function.0 as usize == function);
        let loops = Rc::new(Loops::of(&self.program.functions[function], outermost)?);
        self.loops[function] = Some(loops.clone());
        Ok(loops)
    }
}

/// One thread while it is laid out.
pub(super) struct Layout<'s, 'p> {
    pub shared: &'s mut Shared<'p>,
    pub thread: usize,
    pub code: Vec<Step>,
    pub regs: u32,
    pub frames: Vec<Frame>,
    pending: BTreeMap<Key, Pending>,
    /// Where each target is, once it is laid out.
    targets: Vec<u32>,
    /// Steps whose `next` (or `other`, if true) is a target.
    fixups: Vec<(usize, bool, usize)>,
    /// Loops that were left depending on what is not known.
    undecided: BTreeSet<Key>,
    pub span: Span,
}

impl<'s, 'p> Layout<'s, 'p> {
    fn new(shared: &'s mut Shared<'p>, thread: usize) -> Result<Self, Unsupported> {
        Ok(Layout {
            shared,
            thread,
            code: Vec::new(),
            regs: 0,
            frames: Vec::new(),
            pending: BTreeMap::new(),
            targets: vec![u32::MAX; 3],
            fixups: Vec::new(),
            undecided: BTreeSet::new(),
            span: Span::default(),
        })
    }

    fn run(mut self) -> Result<FlatThread, Unsupported> {
        let NewThread { function, ref args, ref name, parent } = self.shared.spawned[self.thread];
        let (args, name) = (args.clone(), name.clone());
        let mut env = Env::default();
        let frame = self.enter(function, None, Vec::new(), 0, &mut env);
        for (reg, &value) in (0u32..).zip(&args) {
            if reg < self.shared.program.functions[function.0 as usize].params {
                self.set(Reg(reg), Rvalue::Use(value.into()), &mut env);
            }
        }
        let result = self.new_reg();
        let place = self.entry(frame)?;
        self.edge_to(place, env)?;
        while let Some((_, pending)) = self.pending.pop_first() {
            self.targets[pending.target] = self.code.len() as u32;
            self.place(pending.place, pending.env, result)?;
            if self.code.len() > self.shared.options.max_steps {
                let what = format!("more than {} steps in one thread", self.shared.options.max_steps);
                return Err(Unsupported { what, span: self.span });
            }
        }
        if self.fixups.iter().any(|(_, _, target)| *target == IDLE) {
            self.targets[IDLE] = self.code.len() as u32;
            let at = self.emit(Op::Assume(Operand::Const(Value::ZERO)));
            self.fixups.push((at, false, END));
        }
        if self.fixups.iter().any(|(_, _, target)| *target == CUT) {
            self.targets[CUT] = self.code.len() as u32;
            self.emit(Op::Cut);
            self.shared.cuts = true;
        }
        self.targets[END] = self.code.len() as u32;
        for &(at, other, target) in &self.fixups {
            let to = self.targets[target];
            match &mut self.code[at].op {
                Op::Branch { other: place, .. } if other => *place = to,
                _ => self.code[at].next = to,
            }
        }
        if self.code.last().is_some_and(|step| step.op == Op::Cut) {
            let end = self.code.len() as u32;
            self.code.last_mut().expect("just looked").next = end;
        }
        let outer = self.shared.program.functions[function.0 as usize].regs.len() as u32;
        Ok(FlatThread { name, code: self.code, regs: self.regs, parent, result, outer })
    }

    pub fn new_reg(&mut self) -> Reg {
        self.regs += 1;
        Reg(self.regs - 1)
    }

    /// Appends a step that goes on to the next one.
    pub fn emit(&mut self, op: Op) -> usize {
        let next = self.code.len() as u32 + 1;
        self.code.push(Step { op, next, span: self.span });
        self.code.len() - 1
    }

    /// Appends an assignment and remembers what is known.
    pub fn set(&mut self, dst: Reg, value: Rvalue, env: &mut Env) {
        let private = &self.shared.private;
        let known = super::objects::evaluate(env, &value, |object| private.contains_key(&object.0));
        self.note(dst, known, env);
        let value = match known {
            Some(Known::Value(value)) => Rvalue::Use(value.into()),
            _ => value,
        };
        self.emit(Op::Assign { dst, value });
    }

    pub fn note(&self, dst: Reg, known: Option<Known>, env: &mut Env) {
        match known {
            Some(known) => env.insert(dst.0, known),
            None => env.remove(&dst.0),
        };
    }

    fn enter(
        &mut self,
        function: FunctionId,
        back: Option<(Place, Option<Reg>)>,
        prefix: Key,
        depth: u32,
        env: &mut Env,
    ) -> usize {
        let base = self.regs;
        let count = self.shared.program.functions[function.0 as usize].regs.len() as u32;
        self.regs += count;
        env.extend((base..base + count).map(|reg| (reg, Known::Value(Value::ZERO))));
        self.frames.push(Frame { function: function.0 as usize, base, prefix, depth, back });
        self.frames.len() - 1
    }

    fn key(&mut self, place: &Place) -> Result<Key, Unsupported> {
        let frame = &self.frames[place.frame];
        let (function, mut key) = (frame.function, frame.prefix.clone());
        let loops = self.shared.loops(function)?;
        for (head, round) in loops.nest[place.pc as usize].iter().zip(&place.rounds) {
            key.extend([loops.order[*head as usize], *round]);
        }
        key.push(loops.order[place.pc as usize]);
        key.extend(place.worked.iter().map(|&worked| u32::from(worked)));
        Ok(key)
    }

    /// The key of the loop with number `level` around a place, whatever the round.
    fn loop_key(&mut self, place: &Place, level: usize) -> Result<Key, Unsupported> {
        let frame = &self.frames[place.frame];
        let (function, mut key) = (frame.function, frame.prefix.clone());
        let loops = self.shared.loops(function)?;
        let nest = &loops.nest[place.pc as usize];
        for (head, round) in nest.iter().zip(&place.rounds).take(level) {
            key.extend([loops.order[*head as usize], *round]);
        }
        key.push(loops.order[nest[level] as usize]);
        Ok(key)
    }

    /// The target of an edge; what is known there is merged with what other edges bring.
    fn edge(&mut self, from: &Place, to: u32, env: Env) -> Result<usize, Unsupported> {
        let function = self.frames[from.frame].function;
        let loops = self.shared.loops(function)?;
        let (mine, theirs) = (&loops.nest[from.pc as usize], &loops.nest[to as usize]);
        for (level, head) in mine.iter().enumerate() {
            // A loop that can be left in a round before its last does not count: something that is not known decides.
            if !theirs.contains(head) {
                let key = self.loop_key(from, level)?;
                self.undecided.insert(key);
            }
        }
        let mut rounds = Vec::with_capacity(theirs.len());
        let mut worked = vec![from.worked[0]];
        for (level, head) in theirs.iter().enumerate() {
            let mut round = 0;
            let mut work = self.works_from_start(&loops, *head);
            if mine.get(level) == Some(head) {
                round = from.rounds[level];
                if to != *head {
                    work = from.worked[level + 1];
                } else {
                    if !from.worked[level + 1] {
                        return Ok(IDLE);
                    }
                    let key = self.loop_key(from, level)?;
                    let counts = self.undecided.contains(&key) || loops.endless.contains(head);
                    if counts && round >= self.shared.options.unroll {
                        return Ok(CUT);
                    }
                    round += 1;
                }
            }
            rounds.push(round);
            worked.push(work);
        }
        self.edge_to(Place { frame: from.frame, pc: to, rounds, worked }, env)
    }

    /// Whether a round of a loop counts as one that has done something from its start.
    fn works_from_start(&self, loops: &Loops, head: u32) -> bool {
        !self.shared.options.skip_idle || !loops.stateless.contains(&head)
    }

    fn edge_to(&mut self, place: Place, env: Env) -> Result<usize, Unsupported> {
        let key = self.key(&place)?;
        if let Some(pending) = self.pending.get_mut(&key) {
            let private = &self.shared.private;
            merge(&mut pending.env, &env, |object| private.contains_key(&object.0));
            return Ok(pending.target);
        }
        self.targets.push(u32::MAX);
        let target = self.targets.len() - 1;
        self.pending.insert(key, Pending { place, env, target });
        Ok(target)
    }

    /// Lays out one instruction.
    fn place(&mut self, mut place: Place, mut env: Env, result: Reg) -> Result<(), Unsupported> {
        let start = self.code.len();
        let program = self.shared.program;
        let function = &program.functions[self.frames[place.frame].function];
        self.span = function.spans.get(place.pc as usize).copied().unwrap_or_default();
        let base = self.frames[place.frame].base;
        let instr = function.body.get(place.pc as usize);
        if instr.is_some_and(works) {
            place.worked.fill(true);
        }
        match instr {
            None => self.leave(&place, None, env, result),
            Some(Instr::Return(value)) => {
                let value = value.map(|value| rebase(value, base));
                self.leave(&place, value, env, result)
            }
            Some(Instr::Exit(value)) => {
                let value = value.map_or(Operand::Const(Value::ZERO), |value| rebase(value, base));
                self.set(result, Rvalue::Use(value), &mut env);
                self.fixups.push((self.code.len() - 1, false, END));
                Ok(())
            }
            Some(Instr::Halt) => {
                self.emit(Op::Skip);
                self.fixups.push((self.code.len() - 1, false, END));
                Ok(())
            }
            Some(Instr::Cut) => {
                self.emit(Op::Skip);
                self.fixups.push((self.code.len() - 1, false, CUT));
                Ok(())
            }
            Some(Instr::Jump(label)) => {
                let target = self.edge(&place, label.0, env)?;
                self.emit(Op::Skip);
                self.fixups.push((start, false, target));
                Ok(())
            }
            Some(Instr::Branch { condition, then_to, else_to }) => {
                self.branch(&place, rebase(*condition, base), (then_to.0, else_to.0), env)
            }
            Some(Instr::Call { dst, callee, args }) => {
                let dst = dst.map(|dst| Reg(dst.0 + base));
                if let Callee::Pointer(pointer) = callee
                    && !matches!(operand(&env, rebase(*pointer, base)), Some(Known::Value(_)))
                {
                    return self.call_any(&place, dst, rebase(*pointer, base), args, env);
                }
                let function = self.callee(*callee, base, &env)?;
                self.call(&place, dst, (function, 0), args, env)
            }
            Some(Instr::Spawn { dst, callee, args }) => {
                let function = self.callee(*callee, base, &env)?;
                self.spawn(dst.map(|dst| Reg(dst.0 + base)), function, args, base, &mut env)?;
                let target = self.edge(&place, place.pc + 1, env)?;
                self.fixups.push((self.code.len() - 1, false, target));
                Ok(())
            }
            Some(instr) => {
                let ends = matches!(instr, Instr::Fail { .. });
                self.lower(instr, base, &mut env)?;
                if self.code.len() == start {
                    self.emit(Op::Skip);
                }
                let target = match ends {
                    true => END,
                    false => self.edge(&place, place.pc + 1, env)?,
                };
                self.fixups.push((self.code.len() - 1, false, target));
                Ok(())
            }
        }
    }

    fn branch(
        &mut self,
        place: &Place,
        condition: Operand,
        to: (u32, u32),
        env: Env,
    ) -> Result<(), Unsupported> {
        let at = self.code.len();
        if let Some(Known::Value(value)) = operand(&env, condition) {
            let target = self.edge(place, if value.is_true() { to.0 } else { to.1 }, env)?;
            self.emit(Op::Skip);
            self.fixups.push((at, false, target));
            return Ok(());
        }
        let then_to = self.edge(place, to.0, env.clone())?;
        let else_to = self.edge(place, to.1, env)?;
        self.emit(Op::Branch { condition, other: 0 });
        self.fixups.extend([(at, false, then_to), (at, true, else_to)]);
        Ok(())
    }

    /// Returns from a function.
    fn leave(
        &mut self,
        place: &Place,
        value: Option<Operand>,
        mut env: Env,
        result: Reg,
    ) -> Result<(), Unsupported> {
        let frame = &self.frames[place.frame];
        let count = self.shared.program.functions[frame.function].regs.len() as u32;
        let (base, back) = (frame.base, frame.back.clone());
        let value = value.unwrap_or(Operand::Const(Value::ZERO));
        let (dst, target) = match back {
            Some((mut after, dst)) => {
                // What the function did, its caller did.
                if place.worked[0] {
                    after.worked.fill(true);
                }
                if let Some(dst) = dst {
                    self.set(dst, Rvalue::Use(value), &mut env);
                }
                for reg in base..base + count {
                    env.remove(&reg);
                }
                (dst, self.edge_to(after, env)?)
            }
            None => {
                self.set(result, Rvalue::Use(value), &mut env);
                (Some(result), END)
            }
        };
        if dst.is_none() {
            self.emit(Op::Skip);
        }
        self.fixups.push((self.code.len() - 1, false, target));
        Ok(())
    }

    fn callee(&self, callee: Callee, base: u32, env: &Env) -> Result<FunctionId, Unsupported> {
        let bad = |what: &str| Err(Unsupported { what: what.into(), span: self.span });
        let number = match callee {
            Callee::Function(function) => return Ok(function),
            Callee::Pointer(pointer) => match operand(env, rebase(pointer, base)) {
                Some(Known::Value(value)) => value.as_function().map_or(value.0, |f| u64::from(f.0)),
                _ => return bad("a call through a pointer that is not known in advance"),
            },
        };
        match u32::try_from(number).ok().filter(|n| (*n as usize) < self.shared.program.functions.len()) {
            Some(number) => Ok(FunctionId(number)),
            None => bad("a call through something that is no function"),
        }
    }

    /// Calls one of the functions that pointers are made of.
    fn call_any(
        &mut self,
        place: &Place,
        dst: Option<Reg>,
        pointer: Operand,
        args: &[Operand],
        mut env: Env,
    ) -> Result<(), Unsupported> {
        let fits =
            |id: &FunctionId| self.shared.program.functions[id.0 as usize].params as usize == args.len();
        let functions: Vec<FunctionId> = pointed_to(self.shared.program).into_iter().filter(fits).collect();
        for (number, function) in (0..).zip(functions) {
            let same = self.new_reg();
            let target = Operand::Const(Value::function(function));
            self.set(same, Rvalue::Binary(BinaryOp::Eq, Width::W64, Extend::Zero, pointer, target), &mut env);
            let branch = self.emit(Op::Branch { condition: same.into(), other: 0 });
            self.call(place, dst, (function, number), args, env.clone())?;
            self.ends_here(branch);
        }
        let (condition, kind) = (Operand::Const(Value::ZERO), FailKind::Misuse);
        let message = "a call through something that is no function".into();
        let at = self.emit(Op::Assert { condition, kind, message });
        self.fixups.push((at, false, END));
        Ok(())
    }

    fn call(
        &mut self,
        place: &Place,
        dst: Option<Reg>,
        (function, number): (FunctionId, u32),
        args: &[Operand],
        mut env: Env,
    ) -> Result<(), Unsupported> {
        let base = self.frames[place.frame].base;
        let depth = self.frames[place.frame].depth + 1;
        let again = {
            let (mut at, mut count) = (Some(place.frame), 0);
            while let Some(frame) = at.map(|at| &self.frames[at]) {
                count += u32::from(frame.function == function.0 as usize);
                at = frame.back.as_ref().map(|(place, _)| place.frame);
            }
            count
        };
        // Recursion is a loop; that it is decided is not seen, so that a factor is left for it.
        if again > self.shared.options.unroll.saturating_add(16) || depth > 256 {
            self.emit(Op::Skip);
            self.fixups.push((self.code.len() - 1, false, CUT));
            return Ok(());
        }
        let mut prefix = self.key(place)?;
        // The place after the call has a larger key than everything in the callee; what one call may call is kept apart.
        prefix.push(number);
        let after = self.after(place)?;
        let frame = self.enter(function, Some((after, dst)), prefix, depth, &mut env);
        let (first, params) =
            (self.frames[frame].base, self.shared.program.functions[function.0 as usize].params);
        for (reg, &value) in (first..first + params).zip(args) {
            self.set(Reg(reg), Rvalue::Use(rebase(value, base)), &mut env);
        }
        let entry = self.entry(frame)?;
        let target = self.edge_to(entry, env)?;
        if params == 0 || args.is_empty() {
            self.emit(Op::Skip);
        }
        self.fixups.push((self.code.len() - 1, false, target));
        Ok(())
    }

    /// The first place of a frame; a function may begin with a loop.
    fn entry(&mut self, frame: usize) -> Result<Place, Unsupported> {
        let loops = self.shared.loops(self.frames[frame].function)?;
        let back = self.frames[frame].back.as_ref();
        let mut worked = vec![back.is_none_or(|(after, _)| after.worked.iter().all(|&worked| worked))];
        worked.extend(loops.nest[0].iter().map(|&head| self.works_from_start(&loops, head)));
        Ok(Place { frame, pc: 0, rounds: vec![0; loops.nest[0].len()], worked })
    }

    /// The place after an instruction that goes on to the next.
    fn after(&mut self, place: &Place) -> Result<Place, Unsupported> {
        let function = self.frames[place.frame].function;
        let loops = self.shared.loops(function)?;
        let (mine, theirs) = (&loops.nest[place.pc as usize], &loops.nest[place.pc as usize + 1]);
        let (mut rounds, mut worked) = (Vec::new(), vec![place.worked[0]]);
        for (level, head) in theirs.iter().enumerate() {
            let same = mine.get(level) == Some(head);
            let again = same && place.pc + 1 == *head;
            rounds.push(if same { place.rounds[level] + u32::from(again) } else { 0 });
            worked.push(match same && !again {
                true => place.worked[level + 1],
                false => self.works_from_start(&loops, *head),
            });
        }
        Ok(Place { frame: place.frame, pc: place.pc + 1, rounds, worked })
    }

    fn spawn(
        &mut self,
        dst: Option<Reg>,
        function: FunctionId,
        args: &[Operand],
        base: u32,
        env: &mut Env,
    ) -> Result<(), Unsupported> {
        let span = self.span;
        let value = |arg: &Operand| match operand(env, rebase(*arg, base)) {
            Some(Known::Value(value)) => Ok(value),
            _ => Err(Unsupported { what: "a thread whose argument is not known in advance".into(), span }),
        };
        let args = args.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let number = self.shared.spawned.len();
        if number >= MAX_THREADS {
            return Err(Unsupported { what: format!("more than {MAX_THREADS} threads"), span });
        }
        let step = self.emit(Op::Spawn(number));
        let name = format!("{}#{number}", self.shared.program.functions[function.0 as usize].name);
        self.shared.spawned.push(NewThread { name, function, args, parent: Some((self.thread, step)) });
        if let Some(dst) = dst {
            self.set(dst, Rvalue::Use(Value(number as u64).into()), env);
        }
        Ok(())
    }
}

/// The functions that pointers are made of.
fn pointed_to(program: &Program) -> BTreeSet<FunctionId> {
    let mut values: Vec<Value> = program.threads.iter().flat_map(|thread| thread.args.clone()).collect();
    values.extend(program.objects.iter().flat_map(|object| &object.cells).filter_map(|cell| cell.init));
    let mut see = |operand: &Operand| {
        if let Operand::Const(value) = operand {
            values.push(*value);
        }
    };
    for instr in program.functions.iter().flat_map(|function| &function.body) {
        match instr {
            Instr::Assign { value: Rvalue::Use(a), .. } => see(a),
            Instr::Assign { value: Rvalue::Select(_, a, b), .. } => [a, b].into_iter().for_each(&mut see),
            Instr::Store { value, .. } | Instr::StoreExclusive { value, .. } => see(value),
            Instr::Rmw { operand, .. } => see(operand),
            Instr::CompareExchange { desired, .. } => see(desired),
            Instr::Call { args, .. } | Instr::Spawn { args, .. } => args.iter().for_each(&mut see),
            Instr::Return(Some(value)) | Instr::Exit(Some(value)) => see(value),
            Instr::Local { object, .. } => {
                object.cells.iter().filter_map(|cell| cell.init).for_each(|init| see(&Operand::Const(init)));
            }
            _ => {}
        }
    }
    let known = |function: &FunctionId| (function.0 as usize) < program.functions.len();
    values.into_iter().filter_map(Value::as_function).filter(known).collect()
}

/// Whether others, or later rounds of a loop, may notice an instruction other than by registers that it sets.
fn works(instr: &Instr) -> bool {
    match instr {
        Instr::Load { ann, .. } => ann.exclusive,
        Instr::Assign { .. }
        | Instr::CopyLoad { .. }
        | Instr::Fence(_)
        | Instr::Jump(_)
        | Instr::Branch { .. }
        | Instr::Call { .. }
        | Instr::Return(_)
        | Instr::Assume(_)
        | Instr::Assert { .. }
        | Instr::Round(_)
        | Instr::Defined(_)
        | Instr::Nondet { .. }
        | Instr::SelfThread { .. }
        | Instr::ObjectSize { .. }
        | Instr::Await { .. } => false,
        _ => true,
    }
}

/// An operand of a copy whose registers begin at `base`.
pub(super) fn rebase(operand: Operand, base: u32) -> Operand {
    match operand {
        Operand::Reg(reg) => Operand::Reg(Reg(reg.0 + base)),
        constant => constant,
    }
}
