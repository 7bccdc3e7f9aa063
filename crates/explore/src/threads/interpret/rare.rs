//! Operations that litmus tests have little use for: calls, threads, objects, failures.

use super::{END_OF_THREAD, FaultKind, Machine, Next, Stop, get};
use crate::threads::code::{
    ALLOCATIONS, Code, FP, FRAME, HIDDEN, MAX_REGISTERS, Op, Pc, RESULT, SPAWNS, Target,
};
use crate::threads::memory::{Identity, NO_LOC, Storage};
use crate::threads::path::SEGMENT_CALL;
use fencepost_ir::{ObjectId, Span, Value};

impl<M> Machine<'_, M> {
    /// Operations that litmus tests have little use for: calls, threads, objects, failures.
    pub(super) fn other(&mut self, pc: Pc, regs: &mut [u64], fp: &mut usize) -> Result<Pc, Stop> {
        let base = *fp;
        match self.code.ops[pc as usize] {
            Op::Assert { condition, .. } => {
                self.code.reached.mark(pc);
                if get(&regs[base..], condition) == 0
                    && let Some(stop) = self.failed_check(pc, regs)
                {
                    return Err(stop);
                }
            }
            Op::Fail(kind) => return Err(self.fault(pc, FaultKind::Fail(kind))),
            Op::Call { target, args, dst } => {
                self.code.reached.mark(pc);
                return self.call(pc, regs, fp, target, args, dst);
            }
            Op::Return(value) => {
                let value = value.map_or(0, |v| get(&regs[base..], v));
                if base == HIDDEN {
                    regs[RESULT] = value;
                    let process = self.thread == 0 && self.code.is_process;
                    return Err(self.ended(regs, if process { Next::Returned } else { Next::Ended }));
                }
                let (caller, back, dst) = (regs[base], regs[base + 1], regs[base + 2]);
                *fp = caller as usize;
                regs[FP] = caller;
                if dst != 0 {
                    regs[(caller + dst) as usize] = value;
                }
                return Ok(back as Pc);
            }
            Op::Exit(value) => {
                regs[RESULT] = value.map_or(0, |v| get(&regs[base..], v));
                return Err(self.ended(regs, Next::Ended));
            }
            Op::Spawn { .. } => {
                regs[SPAWNS] += 1;
                return Err(Stop::Event(pc, NO_LOC, regs[SPAWNS] - 1));
            }
            Op::Join { thread, .. } => {
                let number = get(&regs[base..], thread);
                // No thread has such a number: it was never one, or the front end knows that it is no more.
                return Err(match number > u64::from(u16::MAX) {
                    true => self.fault(pc, FaultKind::BadJoin),
                    false => Stop::Event(pc, NO_LOC, number),
                });
            }
            Op::SelfThread { dst } => regs[base + dst as usize] = u64::from(self.thread),
            Op::Owns { dst, a } => {
                let owner = get(&regs[base..], a);
                regs[base + dst as usize] = u64::from(owner == u64::from(self.thread) + 1);
            }
            Op::Alloc { dst, size, zeroed } => {
                let size = get(&regs[base..], size).min(u64::from(u32::MAX)) as u32;
                regs[base + dst as usize] = self.make(pc, regs, Storage::Heap, size, zeroed);
            }
            Op::Local { dst, template } => {
                regs[base + dst as usize] = self.make(pc, regs, Storage::Local, template, false);
            }
            Op::ThreadLocal { dst, object } => {
                regs[base + dst as usize] = self.thread_local(ObjectId(object));
            }
            Op::Free { addr, scope } => {
                let address = get(&regs[base..], addr);
                if address == 0 && !scope {
                    return Ok(pc + 1);
                }
                let wanted = if scope { Storage::Local } else { Storage::Heap };
                return Err(match Value(address).as_pointer() {
                    Some((object, 0)) if self.memory.storage(object) == Some(wanted) => {
                        Stop::Event(pc, NO_LOC, u64::from(object.0))
                    }
                    _ => self.fault(pc, FaultKind::InvalidFree),
                });
            }
            Op::Birth => return Err(Stop::Event(pc, NO_LOC, 0)),
            Op::EndThread { exits }
                if exits || (base == HIDDEN && !(self.thread == 0 && self.code.is_process)) =>
            {
                return Err(Stop::Event(pc, NO_LOC, END_OF_THREAD));
            }
            Op::Piece { what, dst, a, b, place, width } => {
                let frame = &mut regs[base..];
                let [addr, at] = [0, 1].map(|i| get(frame, self.code.lists[place as usize][i]));
                let computed = self.piece(pc, what, (addr, width, at), get(frame, a), get(frame, b));
                frame[dst as usize] = computed.map_err(|kind| self.fault(pc, kind))?;
            }
            Op::ObjectSize { dst, addr } => {
                let object = Value(get(&regs[base..], addr)).as_pointer();
                let size = object.and_then(|(object, _)| self.memory.size(object)).unwrap_or(0);
                regs[base + dst as usize] = u64::from(size);
            }
            _ => {}
        }
        Ok(pc + 1)
    }

    fn call(
        &mut self,
        pc: Pc,
        regs: &mut [u64],
        fp: &mut usize,
        target: Target,
        args: u32,
        dst: u16,
    ) -> Result<Pc, Stop> {
        let base = *fp;
        let Some(function) = callee(self.code, target, &regs[base..]) else {
            return Err(self.fault(pc, FaultKind::BadCall));
        };
        let current = self.code.source[pc as usize].0;
        let new = base + self.code.functions[current as usize].frame as usize;
        let callee = self.code.functions[function as usize];
        let end = new + callee.frame as usize;
        if end > MAX_REGISTERS {
            return Err(self.fault(pc, FaultKind::DeepRecursion));
        }
        if end > regs.len() {
            return Err(Stop::Room);
        }
        regs[new..end].fill(0);
        for (i, &a) in self.code.lists[args as usize].iter().take(callee.params as usize).enumerate() {
            regs[new + FRAME + i] = get(&regs[base..], a);
        }
        regs[new] = base as u64;
        regs[new + 1] = u64::from(pc) + 1;
        regs[new + 2] = u64::from(dst);
        regs[FP] = new as u64;
        *fp = new;
        match target {
            Target::Function(_) => Ok(callee.entry),
            Target::Pointer(_) => Err(Stop::Segment(callee.entry, SEGMENT_CALL)),
        }
    }

    /// A new object; `size` is the number of the template for a local one.
    fn make(&mut self, pc: Pc, regs: &mut [u64], storage: Storage, size: u32, zeroed: bool) -> u64 {
        let number = regs[ALLOCATIONS] as u32;
        regs[ALLOCATIONS] += 1;
        let template = (storage == Storage::Local).then(|| &self.code.templates[size as usize]);
        let identity = Identity { thread: self.thread, number, site: pc, size, storage };
        let object = self.memory.make(identity, template, zeroed, Span::default());
        Value::pointer(object, 0).0
    }

    fn thread_local(&mut self, object: ObjectId) -> u64 {
        let storage = Storage::ThreadLocal;
        let identity = Identity { thread: self.thread, number: 0, site: object.0, size: 0, storage };
        let template = self.memory.template(object);
        Value::pointer(self.memory.make(identity, Some(&template), false, Span::default()), 0).0
    }
}

/// The function that a call means.
pub fn callee(code: &Code, target: Target, frame: &[u64]) -> Option<u32> {
    let number = match target {
        Target::Function(function) => return Some(function),
        Target::Pointer(pointer) => Value(get(frame, pointer)),
    };
    let function = number.as_function().map_or(number.0, |f| u64::from(f.0));
    ((function as usize) < code.functions.len() && number.0 != 0).then_some(function as u32)
}
