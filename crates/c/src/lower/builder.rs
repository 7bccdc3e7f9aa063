//! Building one IR function: registers, forward labels, and a last pass that removes jumps to jumps and dead code.

use fencepost_diag::Span;
use fencepost_ir::{Function, Instr, Label, Operand, Reg, Rvalue};

/// A label that may not have a place yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target(u32);

const UNBOUND: u32 = u32::MAX;

/// A function under construction. Labels in its instructions are [`Target`] numbers until [`Builder::finish`].
pub struct Builder {
    function: Function,
    targets: Vec<u32>,
    /// Temporaries, in the order in which they were made; those from `used` on are free.
    temporaries: Vec<Reg>,
    used: usize,
    /// The last place that a label was bound to.
    last_bound: u32,
    /// Where the next instruction comes from.
    pub span: Span,
}

impl Builder {
    /// An empty function.
    pub fn new(name: String, span: Span) -> Builder {
        Builder {
            function: Function { name, ..Function::default() },
            targets: Vec::new(),
            temporaries: Vec::new(),
            used: 0,
            last_bound: UNBOUND,
            span,
        }
    }

    /// Declares the next register as a parameter.
    pub fn param(&mut self, name: &str) -> Reg {
        self.function.params += 1;
        self.function.new_reg(name)
    }

    /// A register with a name.
    pub fn register(&mut self, name: &str) -> Reg {
        self.function.new_reg(name)
    }

    /// A register for an intermediate value, free again after the current statement.
    pub fn temp(&mut self) -> Reg {
        if self.used == self.temporaries.len() {
            let name = format!("t{}", self.used);
            let reg = self.function.new_reg(name);
            self.temporaries.push(reg);
        }
        self.used += 1;
        self.temporaries[self.used - 1]
    }

    /// The temporaries in use; give it to [`Builder::release`] to free later ones.
    pub fn mark(&self) -> usize {
        self.used
    }

    /// Frees the temporaries made since a mark.
    pub fn release(&mut self, mark: usize) {
        self.used = mark;
    }

    /// Appends an instruction.
    pub fn emit(&mut self, instr: Instr) {
        let span = self.span;
        self.function.push(instr, span);
    }

    /// The place of the next instruction, for [`Builder::at`].
    pub fn place(&self) -> usize {
        self.function.body.len()
    }

    /// An instruction that was appended before.
    pub fn at(&mut self, place: usize) -> Option<&mut Instr> {
        self.function.body.get_mut(place)
    }

    /// A temporary that holds this.
    pub fn compute(&mut self, value: Rvalue) -> Operand {
        let dst = self.temp();
        self.emit(Instr::Assign { dst, value });
        Operand::Reg(dst)
    }

    /// `dst = value`; if the last instruction made the value in a temporary, it makes it in `dst` instead.
    pub fn assign(&mut self, dst: Reg, value: Operand) {
        if let Operand::Reg(from) = value {
            if from == dst {
                return;
            }
            let labelled = self.last_bound == self.function.body.len() as u32;
            if self.temporaries.contains(&from)
                && !labelled
                && let Some(made) = self.function.body.last_mut().and_then(made_register)
                && *made == from
            {
                *made = dst;
                return;
            }
        }
        self.emit(Instr::Assign { dst, value: Rvalue::Use(value) });
    }

    /// Marks the place where a variable has no value any more: an assignment to itself, which nothing else makes, for
    /// [`crate::uninit`]; [`remove_marks`] takes them out.
    pub fn forget(&mut self, reg: Reg) {
        self.emit(Instr::Assign { dst: reg, value: Rvalue::Use(Operand::Reg(reg)) });
    }

    /// A new label without a place.
    pub fn target(&mut self) -> Target {
        self.targets.push(UNBOUND);
        Target(self.targets.len() as u32 - 1)
    }

    /// The label's place is here.
    pub fn bind(&mut self, target: Target) {
        self.last_bound = self.function.body.len() as u32;
        self.targets[target.0 as usize] = self.last_bound;
    }

    /// The label's place is that of another one, which has its place.
    pub fn alias(&mut self, target: Target, other: Target) {
        self.targets[target.0 as usize] = self.targets[other.0 as usize];
    }

    /// Jumps.
    pub fn jump(&mut self, target: Target) {
        self.emit(Instr::Jump(Label(target.0)));
    }

    /// Branches.
    pub fn branch(&mut self, condition: Operand, then_to: Target, else_to: Target) {
        match condition {
            Operand::Const(value) => self.jump(if value.is_true() { then_to } else { else_to }),
            _ => self.emit(Instr::Branch { condition, then_to: Label(then_to.0), else_to: Label(else_to.0) }),
        }
    }

    /// The finished function.
    pub fn finish(mut self) -> Function {
        let end = self.function.body.len() as u32;
        let resolve = |label: &mut Label| {
            let place = self.targets[label.0 as usize];
            *label = Label(if place == UNBOUND { end } else { place });
        };
        for instr in &mut self.function.body {
            instr.for_each_label(resolve);
        }
        thread_jumps(&mut self.function);
        while compact(&mut self.function) {}
        self.function
    }
}

/// The one register that an instruction gives a value, if it gives one.
fn made_register(instr: &mut Instr) -> Option<&mut Reg> {
    if matches!(instr, Instr::Local { .. } | Instr::StoreExclusive { .. }) {
        return None;
    }
    let mut all = instr.definitions_mut();
    if all.len() == 1 { all.pop() } else { None }
}

/// Where a jump to each place ends. Jumps that go round in an empty endless loop end at one of them.
fn final_places(body: &[Instr]) -> Vec<Label> {
    let mut places: Vec<Option<Label>> = vec![None; body.len() + 1];
    let mut followed = vec![false; body.len() + 1];
    let mut path = Vec::new();
    for start in 0..=body.len() {
        let mut at = start;
        let end = loop {
            if let Some(known) = places[at] {
                break known;
            }
            match body.get(at) {
                Some(Instr::Jump(next)) if !followed[at] => {
                    followed[at] = true;
                    path.push(at);
                    at = next.0 as usize;
                }
                _ => break Label(at as u32),
            }
        };
        places[at] = Some(end);
        for place in path.drain(..) {
            places[place] = Some(end);
        }
    }
    (0u32..).zip(places).map(|(at, place)| place.unwrap_or(Label(at))).collect()
}

/// Jumps to jumps go where those go.
fn thread_jumps(function: &mut Function) {
    let places = final_places(&function.body);
    for instr in &mut function.body {
        instr.for_each_label(|label| *label = places[label.0 as usize]);
        if let Instr::Branch { then_to, else_to, .. } = instr
            && then_to == else_to
        {
            *instr = Instr::Jump(*then_to);
        }
    }
}

/// Removes unreachable instructions and jumps to the next one; true if it changed anything.
fn compact(function: &mut Function) -> bool {
    let count = function.body.len();
    let mut reachable = vec![false; count];
    let mut work = vec![0u32];
    while let Some(at) = work.pop() {
        let Some(seen) = reachable.get_mut(at as usize) else { continue };
        if std::mem::replace(seen, true) {
            continue;
        }
        match &function.body[at as usize] {
            Instr::Jump(label) => work.push(label.0),
            Instr::Branch { then_to, else_to, .. } => work.extend([then_to.0, else_to.0]),
            Instr::Return(_) | Instr::Exit(_) | Instr::Halt | Instr::Cut | Instr::Fail { .. } => {}
            _ => work.push(at + 1),
        }
    }
    let keep: Vec<bool> = (0..count)
        .map(|i| {
            let next = function.body[i] == Instr::Jump(Label(i as u32 + 1));
            reachable[i] && !next
        })
        .collect();
    retain(function, &keep)
}

/// The register of a mark of `Builder::forget`.
pub fn forgotten(instr: &Instr) -> Option<Reg> {
    match instr {
        Instr::Assign { dst, value: Rvalue::Use(Operand::Reg(from)) } if dst == from => Some(*dst),
        _ => None,
    }
}

/// Takes the marks of [`Builder::forget`] out.
pub fn remove_marks(function: &mut Function) {
    let keep: Vec<bool> = function.body.iter().map(|instr| forgotten(instr).is_none()).collect();
    if retain(function, &keep) {
        while compact(function) {}
    }
}

/// Keeps some of the instructions; true if that changes anything.
fn retain(function: &mut Function, keep: &[bool]) -> bool {
    if keep.iter().all(|k| *k) {
        return false;
    }
    let count = keep.len();
    let mut places = Vec::with_capacity(count + 1);
    let mut place = 0;
    for kept in keep {
        places.push(place);
        place += u32::from(*kept);
    }
    places.push(place);
    let mut kept = keep.iter();
    function.body.retain(|_| *kept.next().unwrap_or(&true));
    let mut kept = keep.iter();
    function.spans.retain(|_| *kept.next().unwrap_or(&true));
    for instr in &mut function.body {
        instr.for_each_label(|label| *label = Label(places[label.0 as usize]));
    }
    true
}
