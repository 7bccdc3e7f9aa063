//! Threads that `main` starts before it does anything else, as threads that run from the start.
//!
//! C programs start all threads in `main`. The beginning of `main` is run here, as far as nobody else could notice it:
//! before the first spawn everything it does to memory is part of the initial state, and afterwards it may still use
//! objects that only it can reach, such as its array of thread numbers. What it has not done yet stays.
//!
//! Nothing changes for the other threads. A thread that has been started and has not moved cannot be told from one that
//! has not been started yet, so every run of one program is a run of the other. Thread numbers stay the same, since spawns
//! are taken in order. This is for programs in which a spawn waits for an empty buffer, as `pthread_create` does; otherwise
//! the stores of `main` before it could still be on their way.

use fencepost_ir::{
    Callee, Function, FunctionId, Instr, Label, ObjectId, Operand, Program, Reg, Rvalue, Span, Thread, Value,
    Width,
};

/// Most instructions of `main` that are run.
const MAX_STEPS: usize = 10_000;

/// The program with the threads that its only thread starts first as threads that run from the start; the program itself
/// if it has several threads already or if its first one may run twice.
pub fn start_at_once(program: &Program) -> Program {
    let [main] = program.threads.as_slice() else { return program.clone() };
    if program.functions.iter().flat_map(|f| &f.body).any(|instr| may_run(instr, main.function)) {
        return program.clone();
    }
    let function = &program.functions[main.function.0 as usize];
    let mut regs = vec![Value::ZERO; function.regs.len()];
    for (reg, value) in regs.iter_mut().zip(&main.args).take(function.params as usize) {
        *reg = *value;
    }
    let mut run = Run { main: main.function, result: program.clone(), regs, pc: 0 };
    let private: Vec<bool> =
        (0..program.objects.len()).map(|o| is_private(program, main.function, o)).collect();
    for _ in 0..MAX_STEPS {
        let Some(instr) = function.body.get(run.pc as usize) else { break };
        if run.step(instr, &private).is_none() {
            break;
        }
    }
    run.finish(function)
}

/// Where the instructions of `main` went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moved {
    /// Its function.
    pub function: FunctionId,
    /// By how many instructions they moved down.
    pub by: u32,
}

/// What [`start_at_once`] moved; `None` if it left the program as it is.
pub fn moved(before: &Program, after: &Program) -> Option<Moved> {
    let function = before.threads.first()?.function;
    let length = |program: &Program| program.functions[function.0 as usize].body.len() as u32;
    let by = length(after).checked_sub(length(before)).filter(|by| *by > 0)?;
    Some(Moved { function, by })
}

/// True if an instruction may run the function.
fn may_run(instr: &Instr, function: FunctionId) -> bool {
    match instr {
        Instr::Call { callee, .. } | Instr::Spawn { callee, .. } => match callee {
            Callee::Function(target) => *target == function,
            Callee::Pointer(Operand::Const(value)) => {
                value.as_function().map_or(value.0 == u64::from(function.0), |f| f == function)
            }
            Callee::Pointer(_) => true,
        },
        _ => false,
    }
}

fn points_to(operand: &Operand, object: usize) -> bool {
    matches!(operand, Operand::Const(value) if value.as_pointer().is_some_and(|(o, _)| o.0 as usize == object))
}

/// True if only `main` knows the address of an object: no other function and no cell mentions it, and in `main` what is
/// computed from it is used as an address only.
fn is_private(program: &Program, main: FunctionId, object: usize) -> bool {
    let cells = program.objects.iter().flat_map(|o| &o.cells);
    let in_cells = cells.filter_map(|cell| cell.init).any(|value| points_to(&value.into(), object));
    let arguments = program.threads.iter().flat_map(|t| &t.args);
    if in_cells || arguments.into_iter().any(|&value| points_to(&value.into(), object)) {
        return false;
    }
    program.functions.iter().enumerate().all(|(f, function)| {
        let is_main = f == main.0 as usize;
        let derived = if is_main { derived(function, object) } else { Vec::new() };
        function.body.iter().enumerate().all(|(at, instr)| {
            let knows = |operand: &Operand| match operand {
                Operand::Reg(reg) => is_main && derived[at][reg.0 as usize],
                Operand::Const(_) => points_to(operand, object),
            };
            match instr {
                Instr::Assign { .. } | Instr::Load { .. } | Instr::CopyLoad { .. } | Instr::Defined(_)
                    if is_main =>
                {
                    true
                }
                Instr::Store { value, .. } if is_main => !knows(value),
                _ => operands(instr).is_some_and(|operands| !operands.iter().any(knows)),
            }
        })
    })
}

/// The registers that may hold an address in the object before each instruction: a forward fixpoint.
fn derived(function: &Function, object: usize) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; function.regs.len()]; function.body.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, instr) in function.body.iter().enumerate() {
            let mut after = before[at].clone();
            match instr {
                Instr::Assign { dst, .. } => {
                    after[dst.0 as usize] =
                        operands(instr).into_iter().flatten().any(|operand| match operand {
                            Operand::Reg(reg) => before[at][reg.0 as usize],
                            Operand::Const(_) => points_to(&operand, object),
                        });
                }
                // What these give is not computed from an address. Others may leave what they overwrite: no harm.
                Instr::Load { dst, .. }
                | Instr::CopyLoad { dst, .. }
                | Instr::Spawn { dst: Some(dst), .. } => after[dst.0 as usize] = false,
                _ => {}
            }
            for to in instr.successors(at as u32).map(|to| to as usize) {
                for (known, new) in before[to].iter_mut().zip(&after) {
                    changed |= *new && !*known;
                    *known |= new;
                }
            }
        }
    }
    before
}

/// What an instruction reads; `None` for those that are not known here, which may do anything.
fn operands(instr: &Instr) -> Option<Vec<Operand>> {
    let mut operands = Vec::new();
    match instr {
        Instr::StoreExclusive { .. } | Instr::ThreadLocal { .. } => return None,
        Instr::Local { object, .. } => {
            operands.extend(object.cells.iter().filter_map(|cell| cell.init).map(Operand::Const));
        }
        _ => instr.for_each_operand(|operand| operands.push(operand)),
    }
    Some(operands)
}

struct Run {
    main: FunctionId,
    result: Program,
    regs: Vec<Value>,
    pc: u32,
}

impl Run {
    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.regs[reg.0 as usize],
            Operand::Const(value) => value,
        }
    }

    /// The value of a cell that nobody else can look at now.
    fn cell(&mut self, addr: Operand, width: Width, private: &[bool]) -> Option<&mut Option<Value>> {
        let (ObjectId(object), offset) = self.value(addr).as_pointer()?;
        if self.result.threads.len() > 1 && !*private.get(object as usize)? {
            return None;
        }
        let cells = &mut self.result.objects.get_mut(object as usize)?.cells;
        let fits = cells.windows(2).all(|pair| pair[0].offset + pair[0].width.bytes() <= pair[1].offset);
        let cell = cells.iter_mut().find(|cell| cell.offset == offset && cell.width == width);
        if fits { cell.map(|cell| &mut cell.init) } else { None }
    }

    /// Runs an instruction; `None`, and nothing is done, if somebody could notice it.
    fn step(&mut self, instr: &Instr, private: &[bool]) -> Option<()> {
        let mut next = self.pc + 1;
        match instr {
            Instr::Assign { dst, value } => {
                let value = match *value {
                    Rvalue::Use(a) => self.value(a),
                    Rvalue::Unary(op, width, extend, a) => {
                        width.extend(extend, op.apply(width, self.value(a)))
                    }
                    Rvalue::Binary(op, width, extend, a, b) => {
                        width.extend(extend, op.apply(width, self.value(a), self.value(b))?)
                    }
                    Rvalue::Select(c, a, b) => self.value(if self.value(c).is_true() { a } else { b }),
                };
                self.regs[dst.0 as usize] = value;
            }
            Instr::Load { dst, addr, width, extend, ann } if !ann.exclusive => {
                let value = (*self.cell(*addr, *width, private)?)?;
                self.regs[dst.0 as usize] = width.extend(*extend, value);
            }
            Instr::CopyLoad { dst, addr, width, extend, .. } => {
                let value = (*self.cell(*addr, *width, private)?)?;
                self.regs[dst.0 as usize] = width.extend(*extend, value);
            }
            Instr::Defined(_) => {}
            Instr::Store { addr, value, width, .. } => {
                let value = width.zero_extend(self.value(*value));
                *self.cell(*addr, *width, private)? = Some(value);
            }
            Instr::Fence(_) => {}
            Instr::Jump(to) => next = to.0,
            Instr::Branch { condition, then_to, else_to } => {
                next = if self.value(*condition).is_true() { then_to.0 } else { else_to.0 };
            }
            Instr::Spawn { dst, callee: Callee::Function(function), args } => {
                let number = self.result.threads.len();
                let args = args.iter().map(|&arg| self.value(arg)).collect();
                let name = format!("T{number}");
                self.result.threads.push(Thread { name, function: *function, args });
                if let Some(dst) = dst {
                    self.regs[dst.0 as usize] = Value(number as u64);
                }
            }
            _ => return None,
        }
        self.pc = next;
        Some(())
    }

    /// The program in which `main` goes on where we stopped.
    fn finish(mut self, old: &Function) -> Program {
        let mut main = Function { body: Vec::new(), spans: Vec::new(), ..old.clone() };
        for (reg, value) in (0u32..).zip(&self.regs) {
            let value = Rvalue::Use(Operand::Const(*value));
            main.push(Instr::Assign { dst: Reg(reg), value }, Span::default());
        }
        let shift = self.regs.len() as u32 + 1;
        main.push(Instr::Jump(Label(self.pc + shift)), Span::default());
        let reachable = reachable(old, self.pc);
        for (at, (instr, span)) in (0u32..).zip(old.body.iter().zip(&old.spans)) {
            let mut instr = instr.clone();
            match &mut instr {
                // Dead code must not look as if it could start threads.
                _ if !reachable[at as usize] => instr = Instr::Jump(Label(at + shift)),
                Instr::Jump(to) => to.0 += shift,
                Instr::Branch { then_to, else_to, .. } => {
                    then_to.0 += shift;
                    else_to.0 += shift;
                }
                _ => {}
            }
            main.push(instr, *span);
        }
        self.result.functions[self.main.0 as usize] = main;
        self.result
    }
}

/// The instructions that may run from a place on.
fn reachable(function: &Function, from: u32) -> Vec<bool> {
    let mut seen = vec![false; function.body.len() + 1];
    let mut open = vec![from as usize];
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        open.extend(
            function.body.get(at).into_iter().flat_map(|i| i.successors(at as u32)).map(|to| to as usize),
        );
    }
    seen
}
