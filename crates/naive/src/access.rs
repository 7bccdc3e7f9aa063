//! The instructions that access memory.

use crate::Stop;
use crate::events::Events;
use crate::findings::ProblemKind;
use crate::interpret::{Interpreter, Memory, Step, fault};
use crate::run::{End, Place, Register, Run, Undefined};
use fencepost_ir::{
    Ann, BinaryOp, Extend, Instr, Location, ObjectId, Operand, Order, Reg, RmwOp, Role, Span, Until, Value,
    Width,
};

/// The cell of a mutex: 0 when it is free, else the number of its owner plus one.
const MUTEX: Width = Width::W32;

/// A compare-exchange, or what is one.
struct Exchange {
    dst: Option<Reg>,
    success: Option<Reg>,
    extend: Extend,
    expected: Register,
    desired: Register,
    read: Ann,
    write: Ann,
    failure: Ann,
    weak: bool,
}

/// A read-modify-write, or a wait; `op` is nothing for a wait that only reads.
struct Modify {
    dst: Option<Reg>,
    extend: Extend,
    until: Option<(BinaryOp, Register)>,
    op: Option<(RmwOp, Register)>,
    read: Ann,
    write: Ann,
}

impl Interpreter<'_> {
    pub(crate) fn access(&self, mut run: Run, instr: &Instr, span: Span) -> Result<Step, Stop> {
        let (addr, width) = address(instr);
        let addr = run.operand(addr);
        let Some(value) = addr.value else { return Ok(unknown_address(run, instr)) };
        let resolved = self.world.resolve(value, width);
        if self.goes_in_pieces(&run, instr, value, width, &resolved) {
            return self.in_pieces(run, instr, span);
        }
        let location = match resolved {
            Ok(location) => location,
            Err(ProblemKind::MixedSize) if self.is_led_to(value, width) => {
                let (object, offset) = value.as_pointer().unwrap_or((ObjectId(0), 0));
                let location = Location { object, offset };
                self.world.meet(location, width);
                location
            }
            Err(kind) => return fault(run, kind),
        };
        let reads_only = matches!(instr, Instr::Load { .. } | Instr::CopyLoad { .. } | Instr::Await { .. });
        if !reads_only && self.world.is_constant(location) {
            return fault(run, ProblemKind::Constant);
        }
        let place = Place {
            location,
            width,
            addr,
            span,
            at: run.at(),
            private: self.world.is_private(location.object),
            piece: false,
            initial: self.world.initial(location, width),
        };
        let mistake = run.private_mistake(&place, instr);
        if let Some(kind) = mistake {
            run.note(kind, place.at);
        }
        // An engine may end the thread here, or keep the object where others could reach it and go on.
        let ended = (mistake.is_some() && matches!(self.memory, Memory::Next(..))).then(|| run.clone());
        let step = self.perform(run, instr, &place)?;
        let Some(ended) = ended else { return Ok(step) };
        let mut outcomes = match step {
            Step::Runs(runs) => runs.into_iter().map(|run| (run, None)).collect(),
            Step::End(run, end) => vec![(run, Some(end))],
            Step::Some(outcomes) => outcomes,
            Step::Perhaps(run) => vec![(run, None)],
        };
        outcomes.insert(0, (ended, Some(End::Failed)));
        Ok(Step::Some(outcomes))
    }

    /// What an access does to its place.
    fn perform(&self, mut run: Run, instr: &Instr, place: &Place) -> Result<Step, Stop> {
        let location = place.location;
        if let Instr::Store { value, ann, .. } = *instr {
            let from = run.operand(value);
            run.write(place, from.value, from, ann);
            return Ok(Step::Runs(vec![run.next()]));
        }
        if let Instr::StoreExclusive { .. } = instr {
            return Ok(Step::Runs(store_exclusive(run, instr, place)));
        }
        if let Some(live) = self.rules.spins
            && let Some(earlier) = run.comes_round(live)
        {
            return Ok(Step::End(run, End::Spinning(earlier)));
        }
        let values = match place.private {
            true => vec![run.private_value(place).value],
            false => self.memory.values(&run, location, place.initial.unwrap_or(Value::UNDEFINED)),
        };
        let outcomes = values.into_iter().flat_map(|old| self.read(&run, instr, place, old));
        Ok(Step::Some(outcomes.collect()))
    }

    /// What may come of an instruction that reads `old`.
    fn read(&self, run: &Run, instr: &Instr, place: &Place, old: Option<Value>) -> Vec<(Run, Option<End>)> {
        let me = Register::constant(Value(u64::from(self.thread.0) + 1));
        let [acquire, relaxed] = [Order::Acquire, Order::Relaxed].map(Ann::order);
        match *instr {
            Instr::Load { dst, extend, ann, .. } => {
                let undefined =
                    if ann.order == Order::Plain { Undefined::Mistake } else { Undefined::Atomic };
                vec![(load(run, place, old, dst, extend, ann, undefined), None)]
            }
            Instr::CopyLoad { dst, extend, ann, keeps, .. } => {
                let undefined = if keeps { Undefined::Kept } else { Undefined::Zero };
                vec![(load(run, place, old, dst, extend, ann, undefined), None)]
            }
            Instr::Rmw { dst, extend, op, operand, read, write, .. } => {
                let op = Some((op, run.operand(operand)));
                modify(run, place, old, &Modify { dst, extend, until: None, op, read, write })
            }
            Instr::Await { dst, extend, until, ann, .. } => {
                let until = Some(condition(run, until));
                modify(run, place, old, &Modify { dst, extend, until, op: None, read: ann, write: ann })
            }
            Instr::AwaitRmw { dst, extend, until, op, operand, read, write, .. } => {
                let (until, op) = (Some(condition(run, until)), Some((op, run.operand(operand))));
                modify(run, place, old, &Modify { dst, extend, until, op, read, write })
            }
            Instr::Lock(_) if old.is_some_and(|old| place.width.sign_extend(defined(old)).as_i64() < 0) => {
                // It was destroyed.
                let mut run = run.clone();
                run.read(place, old, acquire, Undefined::Atomic);
                run.note(ProblemKind::Misuse, place.at);
                vec![(run, Some(End::Failed))]
            }
            Instr::Lock(_) => {
                let until = Some((BinaryOp::Eq, Register::constant(Value::ZERO)));
                let (dst, extend, op) = (None, Extend::Zero, Some((RmwOp::Exchange, me)));
                modify(run, place, old, &Modify { dst, extend, until, op, read: acquire, write: relaxed })
            }
            Instr::Unlock(_) => unlock(run, place, old, me),
            Instr::TryLock { dst, .. } => {
                let free = Register::constant(Value::ZERO);
                exchange(
                    run,
                    place,
                    old,
                    &Exchange {
                        dst: None,
                        success: Some(dst),
                        extend: Extend::Zero,
                        expected: free,
                        desired: me,
                        read: acquire,
                        write: relaxed,
                        failure: relaxed,
                        weak: false,
                    },
                )
            }
            Instr::CompareExchange {
                dst,
                success,
                extend,
                expected,
                desired,
                read,
                write,
                failure,
                weak,
                ..
            } => {
                let (expected, desired) = (run.operand(expected), run.operand(desired));
                let parts = Exchange { dst, success, extend, expected, desired, read, write, failure, weak };
                exchange(run, place, old, &parts)
            }
            _ => unreachable!("called for reads only"),
        }
    }
}

pub(crate) fn address(instr: &Instr) -> (Operand, Width) {
    match *instr {
        Instr::Load { addr, width, .. }
        | Instr::CopyLoad { addr, width, .. }
        | Instr::Store { addr, width, .. }
        | Instr::StoreExclusive { addr, width, .. }
        | Instr::Rmw { addr, width, .. }
        | Instr::CompareExchange { addr, width, .. }
        | Instr::Await { addr, width, .. }
        | Instr::AwaitRmw { addr, width, .. } => (addr, width),
        Instr::Lock(addr) | Instr::Unlock(addr) | Instr::TryLock { addr, .. } => (addr, MUTEX),
        _ => unreachable!("called for accesses only"),
    }
}

fn condition(run: &Run, until: Until) -> (BinaryOp, Register) {
    (until.op, run.operand(until.operand))
}

/// A store-exclusive that fails needs no address.
fn unknown_address(mut run: Run, instr: &Instr) -> Step {
    let Instr::StoreExclusive { status, success, .. } = *instr else { return Step::End(run, End::Stuck) };
    run.reservation = None;
    run.assign(Some(status), Register::constant(Value(u64::from(1 - success))));
    run.chose(0);
    Step::Perhaps(run.next())
}

fn store_exclusive(mut run: Run, instr: &Instr, place: &Place) -> Vec<Run> {
    let Instr::StoreExclusive { status, success, value, ann, .. } = *instr else { return Vec::new() };
    let from = run.operand(value);
    let reservation = run.reservation.take().filter(|&(_, l)| l == place.location);
    let mut runs = Vec::new();
    for succeeds in [false, true] {
        let mut run = run.clone();
        let mut depends = Events::NONE;
        if succeeds {
            let Some((read, _)) = reservation else { continue };
            let write = run.write(place, from.value, from, ann);
            depends = result_of(write, ann);
            if let (Some(write), Some(read)) = (write, read) {
                run.events[write].rmw = Some((read, false));
            }
        }
        let outcome = if succeeds { success } else { 1 - success };
        let outcome = Register::constant(Value(u64::from(outcome)));
        run.assign(Some(status), Register { depends, ..outcome });
        run.chose(i64::from(succeeds));
        runs.push(run.next());
    }
    runs
}

/// What the register that an instruction sets depends on because of its write.
fn result_of(write: Option<usize>, ann: Ann) -> Events {
    write.filter(|_| ann.role == Role::Result).map_or(Events::NONE, Events::one)
}

/// The register that a value of the cell becomes, where an undefined one is taken for zero.
fn loaded(place: &Place, extend: Extend, read: Register) -> Register {
    Register { value: read.value.map(|old| place.width.extend(extend, defined(old))), ..read }
}

fn defined(value: Value) -> Value {
    if value == Value::UNDEFINED { Value::ZERO } else { value }
}

fn load(
    run: &Run,
    place: &Place,
    old: Option<Value>,
    dst: Reg,
    extend: Extend,
    ann: Ann,
    undefined: Undefined,
) -> Run {
    let mut run = run.clone();
    let (event, value) = run.read(place, old, ann, undefined);
    let register = match undefined {
        Undefined::Zero | Undefined::Atomic => loaded(place, extend, value),
        _ => Register { value: value.value.map(|old| place.width.extend(extend, old)), ..value },
    };
    run.assign(Some(dst), register);
    if ann.exclusive {
        run.reservation = Some((event, place.location));
    }
    run.next()
}

fn mark(run: &mut Run, event: Option<usize>) {
    if let Some(event) = event {
        run.events[event].amo = true;
    }
}

/// Joins the halves of what one instruction does.
fn pair(run: &mut Run, read: Option<usize>, write: Option<usize>) {
    mark(run, read);
    mark(run, write);
    if let (Some(read), Some(write)) = (read, write) {
        run.events[write].rmw = Some((read, true));
    }
}

fn modify(run: &Run, place: &Place, old: Option<Value>, parts: &Modify) -> Vec<(Run, Option<End>)> {
    let mut run = run.clone();
    let (event, value) = run.read(place, old, parts.read, Undefined::Atomic);
    if parts.op.is_some() {
        mark(&mut run, event);
    }
    let mut register = loaded(place, parts.extend, value);
    let before = old.map(|old| place.width.zero_extend(old));
    if let Some((op, operand)) = parts.until {
        // Like a branch to a place that is never left.
        run.depend(register);
        run.depend(operand);
        let over = |(old, operand)| op.apply(place.width, old, operand).is_some_and(Value::is_true);
        match register.value.zip(operand.value) {
            None => return vec![(run, Some(End::Stuck))],
            Some(values) if !over(values) => return vec![(run, Some(End::Waiting))],
            Some(_) => {}
        }
    }
    if let Some((op, operand)) = parts.op {
        // What an exchange stores is known before what it reads, and does not depend on it.
        let exchange = op == RmwOp::Exchange;
        let old = if exchange { Some(Value::ZERO) } else { register.value };
        let stored = old.zip(operand.value).map(|(old, operand)| op.apply(place.width, old, operand));
        let mut from = operand;
        if !exchange {
            from.depends |= register.depends;
            from.picks |= register.picks;
        }
        // To write what was there changes nothing.
        let history = std::mem::take(&mut run.history);
        let half = run.write(place, stored, from, parts.write);
        if half.is_some() && stored.is_some() && stored.map(|v| place.width.zero_extend(v)) == before {
            run.history = history;
        }
        pair(&mut run, event, half);
        register.depends |= result_of(half, parts.write);
    }
    run.assign(parts.dst, register);
    vec![(run.next(), None)]
}

/// The owner looks whether the mutex is its own, and gives it up.
fn unlock(run: &Run, place: &Place, old: Option<Value>, me: Register) -> Vec<(Run, Option<End>)> {
    let mut run = run.clone();
    let (_, value) = run.read(place, old, Ann::order(Order::Relaxed), Undefined::Atomic);
    match value.value.map(defined) {
        None => vec![(run, Some(End::Stuck))],
        Some(owner) if Some(owner) != me.value => {
            run.note(ProblemKind::Misuse, place.at);
            vec![(run, Some(End::Failed))]
        }
        Some(_) => {
            let free = Register::constant(Value::ZERO);
            run.write(place, free.value, free, Ann::order(Order::Release));
            vec![(run.next(), None)]
        }
    }
}

fn exchange(run: &Run, place: &Place, old: Option<Value>, parts: &Exchange) -> Vec<(Run, Option<End>)> {
    let (expected, from) = (parts.expected, parts.desired);
    let truncate = |value| place.width.zero_extend(value);
    let equal = expected.value.zip(old).map(|(expected, old)| truncate(expected) == truncate(defined(old)));
    let mut runs = Vec::new();
    for succeeds in [false, true] {
        // A strong exchange succeeds exactly if the values are equal, a weak one may fail then too.
        if equal.is_some_and(|equal| succeeds != equal && (succeeds || !parts.weak)) {
            continue;
        }
        let mut run = run.clone();
        let ann = if succeeds { parts.read } else { parts.failure };
        let (event, value) = run.read(place, old, ann, Undefined::Atomic);
        mark(&mut run, event);
        if succeeds {
            let half = run.write(place, from.value, from, parts.write);
            pair(&mut run, event, half);
            if let Some(half) = half {
                // Whether it is there was decided by what was read and by what was expected.
                run.events[half].pick |= value.depends | value.picks | expected.depends | expected.picks;
            }
        }
        // What a successful one gives back may come from memory or from the register that it was compared with: as data it
        // depends on neither, whichever it was (Arm DDI 0487, intrinsic dependencies of CAS).
        let result = match succeeds {
            true => Register { depends: Events::NONE, picks: value.depends | value.picks, ..value },
            false => value,
        };
        run.assign(parts.dst, loaded(place, parts.extend, result));
        let outcome = Some(Value(u64::from(succeeds)));
        let (depends, picks) = (result.depends | expected.depends, result.picks | expected.picks);
        run.assign(parts.success, Register { value: outcome, depends, picks });
        if parts.weak {
            run.chose(i64::from(succeeds));
        }
        runs.push((run.next(), None));
    }
    runs
}
