//! What each instruction does to the symbolic state of its thread; control flow is in [`super::execute`].

use super::accesses::Target;
use super::deps::Depends;
use super::execute::Pass;
use super::memory::{Kind, Memory};
use super::state::{Held, Inside, Reservation, State};
use super::{Born, Change, EventId, EventKind, FaultKind, InstanceId, Section};
use crate::aig::Lit;
use crate::arithmetic::{self, NoCircuit};
use crate::outcome::{Failed, Unsupported};
use crate::word::Word;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, FailKind, Instr, ObjectId, Operand, Order, Reg, RmwOp, Rvalue, Until,
    Value, Width,
};
use std::rc::Rc;

const NO_FLOATS: FaultKind = FaultKind::Limit("floating-point arithmetic on values that are not constant");

/// A copy of what nobody wrote is no mistake until it is used, and that is not followed.
const COPIED: FaultKind = FaultKind::Limit("copies of uninitialised memory");

/// How a value that was read fills a register.
#[derive(Clone, Copy)]
struct Into {
    dst: Option<Reg>,
    width: Width,
    extend: Extend,
}

impl Pass<'_> {
    /// Runs an instruction that goes on to the next one; nothing if the thread stops here.
    pub fn simple(&mut self, instr: &Instr, mut state: State) -> Result<Option<State>, Failed> {
        let s = &mut state;
        match instr {
            Instr::Assign { dst, value } => self.assign(s, *dst, value),
            Instr::Load { ann, .. } if ann.exclusive && !self.options.reservations => {
                return self.refuse("a load that takes a reservation");
            }
            Instr::Load { dst, addr, width, extend, ann } => {
                let into = Into { dst: Some(*dst), width: *width, extend: *extend };
                self.load(s, *addr, into, *ann, Some(FaultKind::Uninitialised));
            }
            Instr::CopyLoad { dst, addr, width, extend, ann, keeps } => {
                let into = Into { dst: Some(*dst), width: *width, extend: *extend };
                self.load(s, *addr, into, *ann, keeps.then_some(COPIED));
            }
            // No word is undefined.
            Instr::Defined(_) => {}
            Instr::Store { addr, value, width, ann } => {
                let (address, value) = (self.value(s, *addr), self.value(s, *value));
                let target = self.target(s, &address, *width);
                self.check_constant(s, &target);
                self.step(s.guard, target.unit);
                self.write(s, &target, &value, Lit::TRUE, *ann, None);
            }
            Instr::StoreExclusive { .. } if !self.options.reservations => {
                return self.refuse("a store that uses a reservation");
            }
            Instr::StoreExclusive { .. } if s.reserved.len() > 1 => {
                return self.refuse("a store that uses one of several reservations");
            }
            Instr::StoreExclusive { status, success, addr, value, width, ann } => {
                let (address, value) = (self.value(s, *addr), self.value(s, *value));
                let target = self.target(s, &address, *width);
                self.check_constant(s, &target);
                self.step(s.guard, target.unit);
                let (written, read) = self.use_reservation(s, &target);
                self.write(s, &target, &value, written, *ann, read);
                let [yes, no] = [*success, 1 - *success].map(|n| Word::constant(Value(u64::from(n))));
                let outcome = Word::mux(&mut self.graph, written, &yes, &no);
                self.set(s, Some(*status), Held { word: outcome, dep: Depends::NONE });
            }
            Instr::Rmw { dst, addr, width, extend, op, operand, read, write } => {
                let into = Into { dst: *dst, width: *width, extend: *extend };
                self.update(s, *addr, into, (*op, *operand), None, (*read, *write));
            }
            Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, read, write } => {
                let into = Into { dst: *dst, width: *width, extend: *extend };
                self.update(s, *addr, into, (*op, *operand), Some(*until), (*read, *write));
            }
            Instr::CompareExchange { .. } => self.compare_exchange(s, instr),
            // Loops are unrolled, whatever their author says of them.
            Instr::Round(_) => {}
            Instr::Await { dst, addr, width, extend, until, ann } => {
                let address = self.value(s, *addr);
                let target = self.target(s, &address, *width);
                let step = self.begin_step(s, &target);
                let got = self.read_defined(s, &target, *ann);
                self.wait(s, &got.held, *until, *width);
                self.end_wait(s, step, got.undefined);
                self.set_read(s, Into { dst: *dst, width: *width, extend: *extend }, got.held);
            }
            Instr::Fence(fence) => {
                let unit = self.next_unit();
                let guard = s.guard;
                self.event(s, guard, unit, EventKind::Fence(*fence));
            }
            // A copy of a thread ends where it would start or join others.
            Instr::Spawn { .. } | Instr::Join { .. } if self.is_copy() => return Ok(None),
            Instr::Spawn { dst, callee, args } => self.spawn(s, *dst, callee, args)?,
            Instr::Join { thread, dst } => self.join(s, *thread, *dst),
            Instr::Lock(addr) => self.lock(s, *addr, None),
            Instr::TryLock { dst, addr } => self.lock(s, *addr, Some(*dst)),
            Instr::Unlock(addr) => self.unlock(s, *addr),
            Instr::Assume(condition) => {
                let held = self.value(s, *condition);
                let holds = held.word.is_true(&mut self.graph);
                s.guard = self.graph.and(s.guard, holds);
                s.control = self.deps.both(s.control, held.dep);
            }
            Instr::Assert { condition, kind, message } => {
                let holds = self.value(s, *condition).word.is_true(&mut self.graph);
                self.fault(s, !holds, failed(*kind), message);
            }
            Instr::Nondet { dst, first, last } => self.choose(s, *dst, *first, *last),
            Instr::Alloc { .. } if self.is_copy() && self.original.0 != 0 => {
                return self.refuse("memory that a thread allocates while its promises are certified");
            }
            Instr::Alloc { .. }
            | Instr::Free(_)
            | Instr::Local { .. }
            | Instr::EndLocal(_)
            | Instr::ThreadLocal { .. }
            | Instr::ObjectSize { .. } => return self.object(instr, state),
            Instr::SelfThread { dst } => {
                let number = Value(u64::from(self.original.0));
                self.set(s, Some(*dst), Held::constant(number));
            }
            Instr::Exit(value) => {
                let result = value.map_or(Held::constant(Value::ZERO), |value| self.value(s, value));
                self.exit(state, result);
                return Ok(None);
            }
            Instr::Halt => return Ok(None),
            Instr::Fail { kind, message } => {
                self.fault(s, Lit::TRUE, failed(*kind), message);
                return Ok(None);
            }
            Instr::Cut => {
                let guard = s.guard;
                if let Some(cut) = self.rounds.last_mut() {
                    cut.push(guard);
                }
                return Ok(None);
            }
            Instr::AtomicBegin => self.begin_section(s),
            Instr::AtomicEnd => {
                let outside = s.section.outside;
                self.fault_and_stop(s, outside, FaultKind::AtomicEnd, "");
                for (when, section) in std::mem::replace(&mut s.section, Inside::none()).open {
                    let ends = self.graph.and(s.guard, when);
                    let section = &mut self.sections[section as usize];
                    section.ended = self.graph.or(section.ended, ends);
                }
            }
            Instr::Jump(_) | Instr::Branch { .. } | Instr::Return(_) | Instr::Call { .. } => {}
        }
        Ok((state.guard != Lit::FALSE).then_some(state))
    }

    /// Begins a section where there is none.
    fn begin_section(&mut self, state: &mut State) {
        let outside = state.section.outside;
        if outside == Lit::FALSE {
            return;
        }
        let unit = self.unit(state);
        let begun = self.graph.and(state.guard, outside);
        let number = self.sections.len() as u32;
        self.sections.push(Section { thread: self.thread, unit, begun, ended: Lit::FALSE });
        state.section.open.push((outside, number));
        state.section.units = vec![(Lit::TRUE, unit)];
        state.section.outside = Lit::FALSE;
        self.step(begun, Some(unit));
    }

    fn refuse(&self, what: &str) -> Result<Option<State>, Failed> {
        Err(Failed::Unsupported(Unsupported { what: what.into(), span: self.span() }))
    }

    fn assign(&mut self, state: &mut State, dst: Reg, value: &Rvalue) {
        let held = match *value {
            Rvalue::Use(a) => self.value(state, a),
            Rvalue::Unary(op, width, extend, a) => {
                let a = self.value(state, a);
                let word = arithmetic::unary(&mut self.graph, op, width, extend, &a.word);
                Held { word: self.or_limit(state, word), dep: a.dep }
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                let (a, b) = (self.value(state, a), self.value(state, b));
                let computed = arithmetic::binary(&mut self.graph, op, width, extend, &a.word, &b.word);
                let undefined = computed.as_ref().map_or(Lit::FALSE, |computed| computed.undefined);
                self.fault_and_stop(state, undefined, FaultKind::DivisionByZero, "");
                let word = self.or_limit(state, computed.map(|computed| computed.word));
                Held { word, dep: self.deps.both(a.dep, b.dep) }
            }
            Rvalue::Select(condition, a, b) => {
                let (condition, a, b) =
                    (self.value(state, condition), self.value(state, a), self.value(state, b));
                let chosen = condition.word.is_true(&mut self.graph);
                let word = Word::mux(&mut self.graph, chosen, &a.word, &b.word);
                let either = self.deps.choice(chosen, a.dep, b.dep);
                Held { word, dep: self.deps.picked(either, condition.dep) }
            }
        };
        self.set(state, Some(dst), held);
    }

    fn or_limit(&mut self, state: &mut State, word: Result<Word, NoCircuit>) -> Word {
        word.unwrap_or_else(|NoCircuit| {
            self.fault_and_stop(state, Lit::TRUE, NO_FLOATS, "");
            Word::constant(Value::ZERO)
        })
    }

    /// Puts what was read into a register.
    fn set_read(&mut self, state: &mut State, into: Into, held: Held) {
        let word = held.word.extend(into.width, into.extend);
        self.set(state, into.dst, Held { word, dep: held.dep });
    }

    fn load(
        &mut self,
        state: &mut State,
        addr: Operand,
        into: Into,
        ann: Ann,
        without_value: Option<FaultKind>,
    ) {
        let address = self.value(state, addr);
        let target = self.target(state, &address, into.width);
        self.step(state.guard, target.unit);
        let mut got = self.read(state, &target, ann);
        match without_value {
            Some(kind) => self.fault_and_stop(state, got.undefined, kind, ""),
            None => {
                let zero = Word::constant(Value::ZERO);
                got.held.word = Word::mux(&mut self.graph, got.undefined, &zero, &got.held.word);
            }
        }
        if ann.exclusive {
            let reservation = Reservation { read: got.event, cells: target.cells };
            state.reserved = Rc::new(vec![(Lit::TRUE, reservation)]);
        }
        self.set_read(state, into, got.held);
    }

    /// Whether a store that needs a reservation is done, and the load that took it. It may fail for no reason.
    fn use_reservation(&mut self, state: &mut State, target: &Target) -> (Lit, Option<EventId>) {
        let reserved = std::mem::take(&mut state.reserved);
        let Some((when, Reservation { read, cells })) = reserved.first() else { return (Lit::FALSE, None) };
        let mut same = Vec::new();
        for (cell, first) in cells {
            for (_, second) in target.cells.iter().filter(|(other, _)| other == cell) {
                same.push(self.graph.and(*first, *second));
            }
        }
        let same = self.graph.or_all(&same);
        let succeeds = self.graph.input();
        (self.graph.and_all(&[succeeds, *when, same]), *read)
    }

    /// The thread goes on only where the wait is over.
    fn wait(&mut self, state: &mut State, value: &Held, until: Until, width: Width) {
        let operand = self.value(state, until.operand);
        let over =
            arithmetic::binary(&mut self.graph, until.op, width, Extend::Zero, &value.word, &operand.word);
        let undefined = over.as_ref().map_or(Lit::FALSE, |computed| computed.undefined);
        let word = self.or_limit(state, over.map(|computed| computed.word));
        let over = word.is_true(&mut self.graph);
        // A division by zero does not end the wait.
        let over = self.graph.and(over, !undefined);
        state.guard = self.graph.and(state.guard, over);
        let dep = self.deps.both(value.dep, operand.dep);
        state.control = self.deps.both(state.control, dep);
    }

    /// Adds the step of an access; returns its place.
    fn begin_step(&mut self, state: &State, target: &Target) -> usize {
        self.step(state.guard, target.unit);
        self.steps.len() - 1
    }

    /// A step that waits is done only where the wait is over, or where it is a fault.
    fn end_wait(&mut self, state: &State, step: usize, fault: Lit) {
        let tried = self.steps[step].guard;
        let fault = self.graph.and(tried, fault);
        self.steps[step].guard = self.graph.or(state.guard, fault);
    }

    /// A read-modify-write, which may wait first.
    fn update(
        &mut self,
        state: &mut State,
        addr: Operand,
        into: Into,
        (op, operand): (RmwOp, Operand),
        until: Option<Until>,
        (read, write): (Ann, Ann),
    ) {
        let (address, operand) = (self.value(state, addr), self.value(state, operand));
        let target = self.target(state, &address, into.width);
        self.check_constant(state, &target);
        self.note_update(&target);
        let step = self.begin_step(state, &target);
        let got = self.read_defined(state, &target, read);
        if let Some(until) = until {
            self.wait(state, &got.held, until, into.width);
            self.end_wait(state, step, got.undefined);
        }
        let word = arithmetic::rmw(&mut self.graph, op, into.width, &got.held.word, &operand.word);
        let dep = match op {
            RmwOp::Exchange => operand.dep,
            _ => self.deps.both(got.held.dep, operand.dep),
        };
        self.write(state, &target, &Held { word, dep }, Lit::TRUE, write, got.event);
        let change = match op {
            RmwOp::Add => Change::Adds(operand.word.extend(into.width, Extend::Zero)),
            _ => Change::Replaces(got.held.word.clone()),
        };
        self.note_change(got.event, change);
        self.set_read(state, into, got.held);
    }

    fn compare_exchange(&mut self, state: &mut State, instr: &Instr) {
        let Instr::CompareExchange {
            dst,
            success,
            addr,
            width,
            extend,
            expected,
            desired,
            read,
            write,
            failure,
            weak,
        } = instr
        else {
            return;
        };
        let address = self.value(state, *addr);
        let (expected, desired) = (self.value(state, *expected), self.value(state, *desired));
        let target = self.target(state, &address, *width);
        self.check_constant(state, &target);
        self.note_update(&target);
        let spurious = if *weak { self.graph.input() } else { Lit::FALSE };
        self.step(state.guard, target.unit).spurious = spurious;
        let got = self.read_defined(state, &target, *read);
        let wanted = expected.word.extend(*width, Extend::Zero);
        let equal = Word::equal(&mut self.graph, &wanted, &got.held.word);
        let written = self.graph.and(equal, !spurious);
        self.annotate(got.event, !written, *failure);
        let compared = self.deps.both(got.held.dep, expected.dep);
        let desired = Held { dep: self.deps.picked(desired.dep, compared), ..desired };
        self.write(state, &target, &desired, written, *write, got.event);
        self.note_change(got.event, Change::Replaces(wanted));
        let result = self.exchanged(written, got.held);
        let dep = self.deps.both(result.dep, expected.dep);
        self.set_read(state, Into { dst: *dst, width: *width, extend: *extend }, result);
        self.set(state, *success, Held { word: Word::bool(written), dep });
    }

    /// What a compare-exchange read. One that succeeds may take it from memory or from what it was compared with: it depends on
    /// neither as data (Arm DDI 0487, intrinsic dependencies of CAS).
    fn exchanged(&mut self, written: Lit, read: Held) -> Held {
        let picked = self.deps.picked(Depends::NONE, read.dep);
        Held { dep: self.deps.choice(written, picked, read.dep), ..read }
    }

    /// What stands in a mutex that the running thread holds.
    fn owner(&self) -> Held {
        Held::constant(Value(if self.options.c { u64::from(self.original.0) + 1 } else { 1 }))
    }

    /// Locks a mutex, or tries to.
    fn lock(&mut self, state: &mut State, addr: Operand, outcome: Option<Reg>) {
        let address = self.value(state, addr);
        let target = self.mutex(state, &address);
        self.note_update(&target);
        let step = self.begin_step(state, &target);
        let [acquire, relaxed] = [Order::Acquire, Order::Relaxed].map(Ann::order);
        let got = self.read_defined(state, &target, acquire);
        let free = got.held.word.is(&mut self.graph, Value::ZERO);
        if outcome.is_some() {
            self.annotate(got.event, !free, relaxed);
        } else {
            if self.options.c {
                let value = got.held.word.extend(target.width, Extend::Sign);
                let message = "a mutex is locked that was destroyed";
                self.fault_and_stop(state, value.fill(), FaultKind::Misuse, message);
            }
            state.guard = self.graph.and(state.guard, free);
            state.control = self.deps.both(state.control, got.held.dep);
            self.end_wait(state, step, got.undefined);
        }
        let mut owner = self.owner();
        if outcome.is_some() {
            owner.dep = self.deps.picked(owner.dep, got.held.dep);
        }
        self.write(state, &target, &owner, free, relaxed, got.event);
        let result = self.exchanged(free, got.held);
        self.set(state, outcome, Held { word: Word::bool(free), dep: result.dep });
    }

    fn unlock(&mut self, state: &mut State, addr: Operand) {
        let address = self.value(state, addr);
        let target = self.mutex(state, &address);
        self.step(state.guard, target.unit);
        let mut rmw = None;
        if self.options.c {
            let got = self.read_defined(state, &target, Ann::order(Order::Relaxed));
            let owner = self.owner();
            let mine = Word::equal(&mut self.graph, &got.held.word, &owner.word);
            let message = "a mutex is unlocked by a thread that does not hold it";
            self.fault_and_stop(state, !mine, FaultKind::Misuse, message);
            rmw = got.event;
        }
        self.write(state, &target, &Held::constant(Value::ZERO), Lit::TRUE, Ann::order(Order::Release), rmw);
    }

    /// A choice is a symbolic word, with only as many bits as its range needs.
    fn choose(&mut self, state: &mut State, dst: Reg, first: i64, last: i64) {
        let (low, high) = (Word::constant(Value::from_i64(first)), Word::constant(Value::from_i64(last)));
        let few = i128::from(last) - i128::from(first) < crate::word::MOST_VALUES as i128;
        let word = match few {
            true => {
                let values: Vec<u64> = (first..=last).map(|n| n as u64).collect();
                Word::one_of(&mut self.graph, &values)
            }
            false => Word::input(&mut self.graph, low.len().max(high.len()) as u32, first < 0),
        };
        let bare = word.bare();
        for (a, b) in [(&low, &bare), (&bare, &high)] {
            let within = arithmetic::binary(&mut self.graph, BinaryOp::LeS, Width::W64, Extend::Zero, a, b);
            let within = within.map_or(Lit::TRUE, |computed| computed.word.bit(0));
            if within != Lit::TRUE {
                self.constraints.push(vec![within]);
            }
        }
        self.step(state.guard, None).choice = Some(word.clone());
        self.set(state, Some(dst), Held { word, dep: Depends::NONE });
    }

    fn spawn(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        callee: &Callee,
        args: &[Operand],
    ) -> Result<(), Failed> {
        let (functions, bad) = self.callees(state, callee);
        self.fault_and_stop(state, bad, FaultKind::BadCall, "");
        let args: Vec<Held> = args.iter().map(|&arg| self.value(state, arg)).collect();
        let mut number = Held::constant(Value::ZERO);
        for (function, named) in functions {
            let guard = self.graph.and(state.guard, named);
            if guard == Lit::FALSE {
                continue;
            }
            if self.threads.len() >= self.options.max_threads as usize {
                self.fault_and_stop(
                    state,
                    Lit::TRUE,
                    FaultKind::Limit("more threads than there is room for"),
                    "",
                );
                return Ok(());
            }
            let unit = self.next_unit();
            // What happened before in this thread's open section comes before the new thread, too.
            let spawned = Some((self.thread, unit));
            let child = self.add_thread(function, args.clone(), guard, spawned);
            self.step(guard, None).spawns = Some(child);
            self.event(state, guard, unit, EventKind::Spawn(child));
            let this = Word::constant(Value(u64::from(child.0)));
            number.word = Word::mux(&mut self.graph, named, &this, &number.word);
        }
        state.note_effect(&mut self.graph, Lit::TRUE);
        self.set(state, dst, number);
        Ok(())
    }

    fn join(&mut self, state: &mut State, thread: Operand, dst: Option<Reg>) {
        let held = self.value(state, thread);
        // Threads that are started by others may not have been met yet; the values of the word say which there are.
        let most = held.word.values().and_then(|values| values.iter().copied().max());
        let known = self.threads.len().max(self.shapes.threads as usize) as u64;
        let last = most.map_or(known, |most| known.min(most.saturating_add(1)));
        let mut candidates = Vec::new();
        let mut result = Held::constant(Value::ZERO);
        let mut over = Lit::FALSE;
        for number in 0..last {
            let named = held.word.is(&mut self.graph, Value(number));
            if named == Lit::FALSE {
                continue;
            }
            let (ended, word) = self.end_of(number as u32);
            candidates.push((InstanceId(number as u32), named));
            result.word = Word::mux(&mut self.graph, named, &word, &result.word);
            let this = self.graph.and(named, ended);
            over = self.graph.or(over, this);
        }
        let named: Vec<Lit> = candidates.iter().map(|(_, lit)| *lit).collect();
        let good = self.graph.or_all(&named);
        self.fault_and_stop(state, !good, FaultKind::BadJoin, "");
        let unit = self.next_unit();
        state.guard = self.graph.and(state.guard, over);
        let guard = state.guard;
        if guard == Lit::FALSE {
            return;
        }
        self.step(guard, None).joins = candidates.clone();
        self.event(state, guard, unit, EventKind::Join(candidates.clone()));
        if let [(only, _)] = candidates[..] {
            let joined = Rc::make_mut(&mut state.joined);
            if let Err(at) = joined.binary_search(&only) {
                joined.insert(at, only);
            }
        }
        self.set(state, dst, result);
    }

    /// Objects that are made, ended or measured.
    fn object(&mut self, instr: &Instr, mut state: State) -> Result<Option<State>, Failed> {
        let s = &mut state;
        match instr {
            Instr::Alloc { dst, size, zeroed } => {
                let size = self.value(s, *size).word;
                let large = Memory::too_large(&mut self.graph, &size);
                self.fault_and_stop(s, large, FaultKind::Limit("an object of more than 65535 bytes"), "");
                let (made, ends) = (self.new_object(), self.shapes.frees && self.options.life_flags);
                let allocated = self.memory.allocate(&mut self.graph, size.clone(), *zeroed, made, ends);
                if let Some((object, taken)) = allocated {
                    self.note_birth(object, false);
                    for (a, b) in taken.pairs(&size) {
                        self.constraints.extend([vec![!s.guard, !a, b], vec![!s.guard, a, !b]]);
                    }
                    self.set(s, Some(*dst), Held::constant(Value::pointer(ObjectId(object), 0)));
                }
                s.note_effect(&mut self.graph, Lit::TRUE);
            }
            Instr::Local { dst, object, private } => {
                let made = self.new_object();
                let ends = self.shapes.frees && *private != self.options.life_flags;
                let Some(number) = self.memory.make_local(&mut self.graph, object, made, (ends, *private))
                else {
                    return self.refuse(&format!("`{}`, whose cells overlap,", object.name));
                };
                self.note_birth(number, false);
                if !private {
                    self.locals.push((number, s.guard));
                }
                self.set(s, Some(*dst), Held::constant(Value::pointer(ObjectId(number), 0)));
            }
            Instr::ThreadLocal { dst, object } => {
                let number = match self.copies.get(&object.0) {
                    Some(number) => *number,
                    None => {
                        let made = self.new_object();
                        let template = &self.program.objects[object.0 as usize];
                        let local = self.memory.make_local(&mut self.graph, template, made, (false, false));
                        let Some(number) = local else {
                            return self.refuse(&format!("`{}`, whose cells overlap,", template.name));
                        };
                        self.copies.insert(object.0, number);
                        self.locals.push((number, Lit::FALSE));
                        self.note_birth(number, true);
                        number
                    }
                };
                let copy = self.locals.iter_mut().find(|(object, _)| *object == number);
                if let Some((_, made)) = copy {
                    *made = self.graph.or(*made, s.guard);
                }
                self.set(s, Some(*dst), Held::constant(Value::pointer(ObjectId(number), 0)));
            }
            Instr::ObjectSize { dst, addr } => {
                let address = self.value(s, *addr);
                let (size, none) = self.memory.size_of(&mut self.graph, &address.word);
                let kind = FaultKind::BadAccess { address: address.word, width: Width::W8 };
                self.fault_and_stop(s, none, kind, "");
                self.set(s, Some(*dst), Held { word: size, dep: address.dep });
            }
            Instr::Free(addr) => self.free(s, *addr),
            Instr::EndLocal(addr) => {
                let address = self.value(s, *addr);
                let made = self.memory.made_objects(&mut self.graph, &address.word);
                self.end_scope(s, &made);
                let flags = made.into_iter().filter_map(|(_, _, alive, named)| Some((alive?, named)));
                self.end_life(s, flags.collect());
            }
            _ => {}
        }
        Ok((state.guard != Lit::FALSE).then_some(state))
    }

    /// Notes where an object is made.
    fn note_birth(&mut self, object: u32, with_thread: bool) {
        let first = self.threads[self.thread.0 as usize].events.start;
        let events_before = if with_thread { 0 } else { self.events.len() as u32 - first };
        self.memory.objects[object as usize].born = Some(Born { events_before, at: self.at, with_thread });
    }

    /// The name of the next object that the running thread makes.
    fn new_object(&mut self) -> (u32, u32) {
        self.made += 1;
        (self.thread.0, self.made - 1)
    }

    /// A local object goes out of scope.
    fn end_scope(&mut self, state: &mut State, made: &[(u32, Kind, Option<super::CellId>, Lit)]) {
        let mut ended = Vec::new();
        for &(object, .., named) in made {
            let here = self.graph.and(state.guard, named);
            if let Some((_, alive)) = self.locals.iter_mut().find(|(local, _)| *local == object) {
                *alive = self.graph.and(*alive, !here);
                ended.push((object, named));
            }
        }
        self.end_lives(state, ended);
    }

    fn free(&mut self, state: &mut State, addr: Operand) {
        let address = self.value(state, addr);
        let null = address.word.is(&mut self.graph, Value::ZERO);
        let made = self.memory.made_objects(&mut self.graph, &address.word);
        let heap: Vec<_> =
            made.into_iter().filter(|(_, kind, ..)| matches!(kind, Kind::Heap { .. })).collect();
        let mut named: Vec<Lit> = heap.iter().map(|(.., named)| *named).collect();
        named.push(null);
        let good = self.graph.or_all(&named);
        self.fault_and_stop(state, !good, FaultKind::InvalidFree, "");
        self.end_lives(state, heap.iter().map(|&(object, .., named)| (object, named)).collect());
        let flags = heap.into_iter().filter_map(|(_, _, alive, named)| Some((alive?, named)));
        self.end_life(state, flags.collect());
        state.note_effect(&mut self.graph, Lit::TRUE);
    }

    /// Objects whose flags these are may not be used any more; doing so twice is a fault.
    fn end_life(&mut self, state: &mut State, flags: Vec<(super::CellId, Lit)>) {
        if flags.is_empty() || state.guard == Lit::FALSE {
            return;
        }
        let named: Vec<Lit> = flags.iter().map(|(_, lit)| *lit).collect();
        let some = self.graph.or_all(&named);
        let target = self.flag_target(state, flags);
        let got = self.read(state, &target, Ann::PLAIN);
        let dead = got.held.word.is(&mut self.graph, Value::ZERO);
        let dead = self.graph.and(dead, some);
        self.fault_and_stop(state, dead, FaultKind::DoubleFree, "");
        self.write(state, &target, &Held::constant(Value::ZERO), some, Ann::PLAIN, got.event);
    }
}

/// The fault that a check or a failure of this kind is.
fn failed(kind: FailKind) -> FaultKind {
    match kind {
        FailKind::Assertion => FaultKind::Assertion,
        FailKind::Misuse => FaultKind::Misuse,
        FailKind::Unsupported => FaultKind::Limit("something that the model of the library cannot represent"),
    }
}
