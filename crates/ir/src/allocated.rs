//! Memory that is allocated at most once, as global objects.
//!
//! An allocation that comes at most once in a run makes one object; nothing tells it from a global one but that its life may end.
//! Engines without objects that are made at run time can then run programs that allocate in `main`, or in a thread that is started
//! once. `free` does nothing: uses after it are not looked for, and who uses this says so ([`frees`]).
//!
//! Nobody has declared the cells of such memory. They are what may be accessed: a pass over all instructions, in no order, until nothing
//! changes, finds what registers and memory may hold, as for flat programs (`flat::heap`). An access that hits no cell
//! is a finding to every engine, so a cell that were missing here could not hide anything.
//!
//! Programs stay as they are if an allocation may come twice or has a size that is not known, if they access memory through pointers
//! that may be anything, or if accesses of different sizes overlap.

use crate::flat::heap::{May, Registers, cells, evaluate, operand, places};
use crate::flat::objects::{binary, unary};
use crate::program::{
    Callee, Function, FunctionId, Instr, Label, Object, ObjectId, Operand, Program, Rvalue, Width,
};
use crate::value::Value;
use std::collections::BTreeMap;

/// True if the program frees memory.
pub fn frees(program: &Program) -> bool {
    program.functions.iter().flat_map(|f| &f.body).any(|instr| matches!(instr, Instr::Free(_)))
}

/// The program with global objects in place of its allocations, if each comes at most once.
pub fn globalise_allocations(program: &Program) -> Program {
    let is_allocation = |instr: &Instr| matches!(instr, Instr::Alloc { .. });
    if !program.functions.iter().flat_map(|function| &function.body).any(is_allocation) {
        return program.clone();
    }
    globalised(program).unwrap_or_else(|| program.clone())
}

fn globalised(program: &Program) -> Option<Program> {
    let once = Once::new(program);
    let mut made = program.clone();
    let mut allocated = Vec::new();
    for (f, function) in made.functions.iter_mut().enumerate() {
        let known = constants(function);
        let in_loop = loops(function);
        for (at, instr) in function.body.iter_mut().enumerate() {
            let next = Label(at as u32 + 1);
            match *instr {
                Instr::Alloc { dst, size, zeroed } => {
                    if in_loop[at] || !once.is_sure(f) {
                        return None;
                    }
                    let size = match size {
                        Operand::Const(size) => size,
                        Operand::Reg(reg) => known[reg.0 as usize]?,
                    };
                    let object = made.objects.len() as u32;
                    let (size, span) = (u32::try_from(size.0).ok()?, function.spans[at]);
                    let name = "allocated".to_owned();
                    made.objects.push(Object { name, size, cells: Vec::new(), span, constant: false });
                    allocated.push((object, zeroed));
                    let pointer = Operand::Const(Value::pointer(ObjectId(object), 0));
                    *instr = Instr::Assign { dst, value: Rvalue::Use(pointer) };
                }
                Instr::Free(_) => *instr = Instr::Jump(next),
                _ => {}
            }
        }
    }
    let accessed = Pointers::new(&made).accessed(&made)?;
    let mut found: BTreeMap<u32, BTreeMap<u32, Width>> = BTreeMap::new();
    for (object, offset, width) in accessed {
        if found.entry(object).or_default().insert(offset, width).is_some_and(|other| other != width) {
            let ours = allocated.iter().any(|(number, _)| *number == object);
            if ours {
                return None;
            }
        }
    }
    for (object, zeroed) in allocated {
        made.objects[object as usize].cells = cells(found.remove(&object).unwrap_or_default(), zeroed)?;
    }
    Some(made)
}

/// The registers that one instruction alone sets, to what can be computed from constants.
fn constants(function: &Function) -> Vec<Option<Value>> {
    let mut set = vec![0u32; function.regs.len()];
    (0..function.params as usize).for_each(|param| set[param] += 1);
    for instr in &function.body {
        instr.for_each_definition(|reg| set[reg.0 as usize] += 1);
    }
    let mut known: Vec<Option<Value>> = vec![None; function.regs.len()];
    loop {
        let mut more = false;
        for instr in &function.body {
            let Instr::Assign { dst, value } = instr else { continue };
            let at = dst.0 as usize;
            if set[at] == 1 && known[at].is_none() {
                known[at] = computed(&known, value);
                more |= known[at].is_some();
            }
        }
        if !more {
            return known;
        }
    }
}

fn computed(known: &[Option<Value>], value: &Rvalue) -> Option<Value> {
    let get = |a: Operand| match a {
        Operand::Const(value) => Some(value),
        Operand::Reg(reg) => known[reg.0 as usize],
    };
    match *value {
        Rvalue::Use(a) => get(a),
        Rvalue::Unary(op, width, extend, a) => Some(unary(op, width, extend, get(a)?)),
        Rvalue::Binary(op, width, extend, a, b) => binary(op, width, extend, get(a)?, get(b)?),
        Rvalue::Select(..) => None,
    }
}

/// For each instruction: control may come back to it.
fn loops(function: &Function) -> Vec<bool> {
    let mut inside = vec![false; function.body.len()];
    for (at, instr) in function.body.iter().enumerate() {
        let mut back = |to: Label| {
            if to.0 as usize <= at {
                inside[to.0 as usize..=at].fill(true);
            }
        };
        match instr {
            Instr::Jump(to) => back(*to),
            Instr::Branch { then_to, else_to, .. } => [*then_to, *else_to].into_iter().for_each(back),
            _ => {}
        }
    }
    inside
}

/// How often functions run.
struct Once(Vec<bool>);

impl Once {
    fn new(program: &Program) -> Once {
        // The places that run each function: one in a loop counts twice.
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); program.functions.len()];
        let mut started = vec![0; program.functions.len()];
        program.threads.iter().for_each(|thread| started[thread.function.0 as usize] += 1);
        for (f, function) in program.functions.iter().enumerate() {
            for (instr, in_loop) in function.body.iter().zip(loops(function)) {
                let (Instr::Call { callee, .. } | Instr::Spawn { callee, .. }) = instr else { continue };
                for target in targets(program, callee) {
                    from[target].push(f);
                    started[target] += if in_loop { 2 } else { 0 };
                }
            }
        }
        // A function runs once if it is started once, or called at one place of a function that runs once.
        let mut once: Vec<bool> = started.iter().map(|count| *count == 1).collect();
        for (f, once) in once.iter_mut().enumerate() {
            *once &= from[f].is_empty();
        }
        while let Some(f) =
            (0..once.len()).find(|&f| !once[f] && started[f] == 0 && from[f].len() == 1 && once[from[f][0]])
        {
            once[f] = true;
        }
        Once(once)
    }

    fn is_sure(&self, function: usize) -> bool {
        self.0[function]
    }
}

/// The functions that a call or a start may run.
fn targets(program: &Program, callee: &Callee) -> Vec<usize> {
    let known = match callee {
        Callee::Function(FunctionId(f)) => Some(*f as usize),
        Callee::Pointer(Operand::Const(value)) => value.as_function().map(|f| f.0 as usize),
        Callee::Pointer(_) => None,
    };
    known.map_or_else(|| (0..program.functions.len()).collect(), |f| vec![f])
}

/// What registers and memory may hold, in no order.
struct Pointers {
    registers: Vec<Registers>,
    /// What each function returns, or ends a thread with.
    results: Vec<May>,
    memory: BTreeMap<(u32, u32), May>,
    /// What was stored where the address may be anything.
    anywhere: May,
    /// Local objects, by the place where they are made, behind the global ones.
    locals: BTreeMap<(usize, usize), u32>,
    objects: Vec<Object>,
    changed: bool,
}

impl Pointers {
    fn new(program: &Program) -> Pointers {
        let mut objects = program.objects.clone();
        let mut locals = BTreeMap::new();
        for (f, function) in program.functions.iter().enumerate() {
            for (at, instr) in function.body.iter().enumerate() {
                if let Instr::Local { object, .. } = instr {
                    locals.insert((f, at), objects.len() as u32);
                    objects.push((**object).clone());
                }
            }
        }
        let mut memory = BTreeMap::new();
        for (o, object) in (0u32..).zip(&objects) {
            for cell in &object.cells {
                let init = cell.width.zero_extend(cell.init.unwrap_or_default());
                memory.insert((o, cell.offset), May::one(init));
            }
        }
        let registers = program.functions.iter().map(|f| vec![May::one(Value::ZERO); f.regs.len()]).collect();
        let results = vec![May::one(Value::ZERO); program.functions.len()];
        let (anywhere, changed) = (May::default(), false);
        let mut pointers = Pointers { registers, results, memory, anywhere, locals, objects, changed };
        for thread in &program.threads {
            for (param, &value) in thread.args.iter().enumerate() {
                pointers.set(thread.function.0 as usize, param, &May::one(value));
            }
        }
        pointers
    }

    /// Objects, offsets and widths of all accesses; nothing if one may be to anything.
    fn accessed(mut self, program: &Program) -> Option<Vec<(u32, u32, Width)>> {
        loop {
            self.changed = false;
            for (f, function) in program.functions.iter().enumerate() {
                for (at, instr) in function.body.iter().enumerate() {
                    self.step(program, f, at, instr);
                }
            }
            if !self.changed {
                break;
            }
        }
        let mut all = Vec::new();
        for (f, function) in program.functions.iter().enumerate() {
            for instr in &function.body {
                let Some((addr, width)) = access(instr) else { continue };
                let may = operand(&self.registers[f], addr);
                if may.anything {
                    return None;
                }
                let places = places(&self.objects, &may, width).into_iter();
                all.extend(places.map(|(object, offset)| (object, offset, width)));
            }
        }
        Some(all)
    }

    fn set(&mut self, function: usize, reg: usize, may: &May) {
        if let Some(known) = self.registers[function].get_mut(reg) {
            join(known, may, &mut self.changed);
        }
    }

    fn step(&mut self, program: &Program, f: usize, at: usize, instr: &Instr) {
        let get = |pointers: &Pointers, a: Operand| operand(&pointers.registers[f], a);
        match instr {
            Instr::Assign { dst, value } => {
                let may = evaluate(&self.registers[f], value);
                self.set(f, dst.0 as usize, &may);
            }
            Instr::Store { addr, value, width, .. } => {
                let (to, what) = (get(self, *addr), get(self, *value));
                self.store(&to, &what, *width);
            }
            Instr::Local { dst, .. } => {
                let may = May::one(Value::pointer(ObjectId(self.locals[&(f, at)]), 0));
                self.set(f, dst.0 as usize, &may);
            }
            Instr::ThreadLocal { dst, object } => {
                self.set(f, dst.0 as usize, &May::one(Value::pointer(*object, 0)));
            }
            Instr::Return(value) | Instr::Exit(value) => {
                let may = value.map_or_else(|| May::one(Value::ZERO), |value| get(self, value));
                // Who ends a thread may have been called by any function.
                let all = matches!(instr, Instr::Exit(_));
                for result in 0..self.results.len() {
                    if all || result == f {
                        join(&mut self.results[result], &may, &mut self.changed);
                    }
                }
            }
            Instr::Call { dst, callee, args } => {
                for target in targets(program, callee) {
                    self.pass(f, target, args);
                    if let Some(dst) = dst {
                        let may = self.results[target].clone();
                        self.set(f, dst.0 as usize, &may);
                    }
                }
            }
            Instr::Spawn { dst, callee, args } => {
                targets(program, callee).into_iter().for_each(|target| self.pass(f, target, args));
                dst.iter().for_each(|dst| self.set(f, dst.0 as usize, &May::number()));
            }
            Instr::Join { dst: Some(dst), .. } => {
                for result in self.results.clone() {
                    self.set(f, dst.0 as usize, &result);
                }
            }
            Instr::Nondet { dst, .. } | Instr::SelfThread { dst } | Instr::ObjectSize { dst, .. } => {
                self.set(f, dst.0 as usize, &May::number());
            }
            _ => self.access(f, instr),
        }
    }

    /// Reads, and what reads and writes.
    fn access(&mut self, f: usize, instr: &Instr) {
        let Some((addr, width)) = access(instr) else {
            let mut set = Vec::new();
            instr.for_each_definition(|reg| set.push(reg));
            return set.into_iter().for_each(|reg| self.set(f, reg.0 as usize, &May::anything()));
        };
        let from = operand(&self.registers[f], addr);
        let read = self.load(&from, width);
        let mut set = Vec::new();
        instr.for_each_definition(|reg| set.push(reg));
        set.into_iter().for_each(|reg| self.set(f, reg.0 as usize, &read));
        match instr {
            Instr::CompareExchange { desired, success, .. } => {
                let what = operand(&self.registers[f], *desired);
                self.store(&from, &what, width);
                success.iter().for_each(|dst| self.set(f, dst.0 as usize, &May::number()));
            }
            Instr::StoreExclusive { value, .. } => {
                let what = operand(&self.registers[f], *value);
                self.store(&from, &what, width);
            }
            // A new value that is computed: of a pointer anything, of a number a number.
            Instr::Rmw { operand: value, .. } | Instr::AwaitRmw { operand: value, .. } => {
                let mut what = operand(&self.registers[f], *value);
                let exchanges = matches!(instr, Instr::Rmw { op: crate::program::RmwOp::Exchange, .. });
                if !exchanges {
                    what = if width == Width::W64 { May::anything() } else { May::number() };
                }
                self.store(&from, &what, width);
            }
            _ => {}
        }
    }

    fn pass(&mut self, from: usize, to: usize, args: &[Operand]) {
        for (param, arg) in args.iter().enumerate() {
            let may = operand(&self.registers[from], *arg);
            self.set(to, param, &may);
        }
    }

    fn load(&self, from: &May, width: Width) -> May {
        // What is narrower than a pointer is a number.
        if width != Width::W64 {
            return May::number();
        }
        let mut read = self.anywhere.clone();
        read.join(&May::one(Value::ZERO));
        match from.anything {
            true => self.memory.values().for_each(|held| read.join(held)),
            false => {
                for place in places(&self.objects, from, width) {
                    self.memory.get(&place).into_iter().for_each(|held| read.join(held));
                }
            }
        }
        read
    }

    fn store(&mut self, to: &May, what: &May, width: Width) {
        if to.anything {
            join(&mut self.anywhere, what, &mut self.changed);
        }
        for place in places(&self.objects, to, width) {
            join(self.memory.entry(place).or_default(), what, &mut self.changed);
        }
    }
}

/// Adds what may be there. What is known to be anywhere in an object, or any number, is not kept value by value: that would never end.
fn join(known: &mut May, may: &May, changed: &mut bool) {
    let before = known.clone();
    known.join(may);
    let May { values, into, number, .. } = known;
    values.retain(|value| match Value(*value).as_pointer() {
        Some((object, _)) => !into.contains(&object.0),
        None => !*number,
    });
    *changed |= *known != before;
}

/// The address and the width of an access.
fn access(instr: &Instr) -> Option<(Operand, Width)> {
    match instr {
        Instr::Load { addr, width, .. }
        | Instr::CopyLoad { addr, width, .. }
        | Instr::Store { addr, width, .. }
        | Instr::StoreExclusive { addr, width, .. }
        | Instr::Rmw { addr, width, .. }
        | Instr::CompareExchange { addr, width, .. }
        | Instr::Await { addr, width, .. }
        | Instr::AwaitRmw { addr, width, .. } => Some((*addr, *width)),
        Instr::Lock(addr) | Instr::Unlock(addr) | Instr::TryLock { addr, .. } => Some((*addr, Width::W32)),
        _ => None,
    }
}
