//! How wide each location is.
//!
//! The IR wants every access to hit a cell exactly, while a litmus file rarely says how wide a location is. The rule:
//!
//! 1. A declared type decides, and so does an array's element type (`int` if it has none).
//! 2. A location that may hold an address, because its initial value is one or because one may be stored in it, is 64
//!    bits wide, and accesses to it are widened: old PPC tests pass addresses through `stw` and `lwz`.
//! 3. Otherwise a location is as wide as the accesses to it, and 32 bits wide if there is none.
//! 4. Accesses of different widths to one location divide it into parts, on AArch64 and for loads and stores (`parts`); else they
//!    are an error: no model here defines them.
//! 5. A location of 128 bits is a cell of 64 with the lower halves of its halves, see `aarch64::pair`; only accesses that know
//!    this touch it.
//!
//! Which locations an instruction may access is found by following addresses through registers and memory: an
//! abstract interpretation whose values are sets of locations, path-sensitive enough for straight-line code. Almost
//! every test has 32-bit accesses only and keeps addresses in registers; [`settle`] sees that without it.

use crate::Arch;
use crate::parts::{divide, is_divisible};
use crate::test::Test;
use crate::thread::ThreadBuilder;
use fencepost_diag::Diagnostic;
use fencepost_ir::{BinaryOp, Cell, Instr, Object, Operand, Reg, Rvalue, Span, UnaryOp, Value, Width};

/// A set of locations, by number; locations beyond the 64th share the last bit, which is sound.
type Places = u64;

fn place(value: Value) -> Places {
    value.as_pointer().map_or(0, |(object, _)| bit(object.0 as usize))
}

fn bit(global: usize) -> Places {
    1 << global.min(63)
}

/// One access: which locations it may hit, with what width, and where it is.
struct Access {
    thread: usize,
    index: usize,
    places: Places,
    width: Width,
    /// It stands for one of 128 bits.
    double: bool,
    span: Span,
}

impl Access {
    fn bits(&self) -> u32 {
        if self.double { 128 } else { 8 * self.width.bytes() }
    }
}

/// Makes the objects of the program, and adapts accesses to addresses in memory.
pub(crate) fn settle(arch: Arch, test: &mut Test<'_>) -> Result<Vec<Object>, Vec<Diagnostic>> {
    let simple = test.globals.iter().all(|g| g.ty.is_none() && g.init.iter().all(|&v| place(v) == 0))
        && test.threads.iter().all(keeps_addresses_in_registers);
    if simple {
        test.bits = vec![32; test.globals.len()];
        return Ok(objects(test, &test.bits, &test.bits));
    }
    let mut flow = Flow::new(test);
    let accesses = flow.run(&test.threads);
    let instr = |access: &Access| &test.threads[access.thread].function.body[access.index];
    let divides = |access: &Access| arch == Arch::AArch64 && is_divisible(instr(access));
    let divisible: Vec<bool> = accesses.iter().map(divides).collect();
    let (widths, cells) = choose(test, &flow.cells, &accesses, &divisible)?;
    let mut divided: Vec<Vec<(usize, Width)>> = vec![Vec::new(); test.threads.len()];
    for access in &accesses {
        let place = (0..test.globals.len()).find(|&g| access.places & bit(g) != 0);
        if let Some(g) = place.filter(|&g| cells[g] < widths[g] || access.bits() > cells[g]) {
            divided[access.thread].push((access.index, cell_width(cells[g])));
            continue;
        }
        let bits = place.map(|g| widths[g]);
        let width = bits.map(cell_width);
        let slot = width_of(&mut test.threads[access.thread].function.body[access.index]);
        if let (Some(width), Some(slot)) = (width, slot) {
            *slot = width;
        }
    }
    for (thread, divided) in test.threads.iter_mut().zip(&divided) {
        if !divided.is_empty() {
            divide(&mut thread.function, divided);
        }
    }
    let objects = objects(test, &widths, &cells);
    test.bits = widths;
    Ok(objects)
}

/// True if all accesses of the thread are 32 bits wide and none stores what may be an address, given that memory holds
/// no address to begin with.
fn keeps_addresses_in_registers(thread: &ThreadBuilder<'_>) -> bool {
    if thread.function.regs.len() > 64 {
        return false;
    }
    let mut addresses: u64 = 0;
    for (index, &value) in thread.args.iter().enumerate() {
        addresses |= u64::from(place(value) != 0) << index;
    }
    let is_address = |addresses: u64, operand: Operand| match operand {
        Operand::Reg(reg) => addresses >> reg.0 & 1 != 0,
        Operand::Const(value) => place(value) != 0,
    };
    loop {
        let before = addresses;
        for instr in &thread.function.body {
            let (stored, width) = match *instr {
                Instr::Assign { dst, .. } => {
                    let mut any = false;
                    instr.for_each_operand(|operand| any |= is_address(addresses, operand));
                    addresses |= u64::from(any) << dst.0;
                    continue;
                }
                Instr::Load { width, .. } => (Operand::Const(Value::ZERO), width),
                Instr::Store { value, width, .. } | Instr::StoreExclusive { value, width, .. } => {
                    (value, width)
                }
                Instr::Rmw { operand, width, .. } => (operand, width),
                Instr::CompareExchange { desired, width, .. } => (desired, width),
                _ => continue,
            };
            if width != Width::W32 || is_address(addresses, stored) {
                return false;
            }
        }
        if addresses == before {
            return true;
        }
    }
}

fn width_of(instr: &mut Instr) -> Option<&mut Width> {
    match instr {
        Instr::Load { width, .. }
        | Instr::Store { width, .. }
        | Instr::StoreExclusive { width, .. }
        | Instr::Rmw { width, .. }
        | Instr::CompareExchange { width, .. } => Some(width),
        _ => None,
    }
}

/// The cell of a location with so many bits.
fn cell_width(bits: u32) -> Width {
    match bits {
        8 => Width::W8,
        16 => Width::W16,
        32 => Width::W32,
        _ => Width::W64,
    }
}

/// Rules 2 to 5 of the module documentation: the bits of each location, and those of the cells that it is divided into.
fn choose(
    test: &Test<'_>,
    cells: &[Places],
    accesses: &[Access],
    divisible: &[bool],
) -> Result<(Vec<u32>, Vec<u32>), Vec<Diagnostic>> {
    let globals = &test.globals;
    let mut holds_address: Places =
        (0..globals.len()).filter(|&g| cells[g.min(63)] != 0).fold(0, |all, g| all | bit(g));
    // An access that may hit a location with addresses and another one needs the same width for both.
    loop {
        let before = holds_address;
        for access in accesses.iter().filter(|access| access.places & before != 0) {
            holds_address |= access.places;
        }
        if holds_address == before {
            break;
        }
    }
    let mut errors = Vec::new();
    let (mut widths, mut parts) = (Vec::with_capacity(globals.len()), Vec::with_capacity(globals.len()));
    for (g, global) in globals.iter().enumerate() {
        let mut hits = accesses.iter().filter(|access| access.places & bit(g) != 0);
        if holds_address & bit(g) != 0 && !global.is_array {
            widths.push(64);
            parts.push(64);
            errors.extend(hits.find(|access| access.double).map(|access| mixed(global, 64, None, access)));
            continue;
        }
        let declared = global.declared_bits();
        let bits = declared.or_else(|| hits.clone().next().map(Access::bits)).unwrap_or(32);
        let hitting = || accesses.iter().zip(divisible).filter(|(access, _)| access.places & bit(g) != 0);
        let alone = |access: &Access| access.places == bit(g);
        let can = hitting().all(|(access, divisible)| *divisible && alone(access) && access.bits() <= 64);
        let smallest = hitting().map(|(access, _)| access.bits()).min().unwrap_or(bits);
        if can && bits <= 64 && g < 63 && hits.clone().any(|access| access.bits() != bits) {
            let widest = hitting().map(|(access, _)| access.bits()).max().unwrap_or(bits);
            widths.push(declared.unwrap_or(widest).max(if global.is_array { 0 } else { widest }));
            parts.push(smallest.min(bits));
            continue;
        }
        if let Some(other) = hits.clone().find(|access| access.bits() != bits) {
            let first = if declared.is_some() { None } else { hits.next() };
            errors.push(mixed(global, bits, first, other));
        } else if bits == 128 && global.init.iter().any(|value| value.0 > i32::MAX as u64) {
            let message = format!("`{}` has 128 bits and a half that needs more than 31", global.name);
            let error = Diagnostic::error(global.span, message).label("its initial value is too large");
            errors.push(error.hint("values of 128 bits have halves of at most 31 bits here"));
        }
        widths.push(bits);
        parts.push(bits);
    }
    if errors.is_empty() { Ok((widths, parts)) } else { Err(errors) }
}

fn mixed(global: &crate::test::Global<'_>, bits: u32, first: Option<&Access>, other: &Access) -> Diagnostic {
    let message = format!("`{}` is accessed with different sizes", global.name);
    let error = Diagnostic::error(other.span, message)
        .code("FP0102")
        .label(format!("an access of {} bits", other.bits()))
        .hint("only loads and stores of AArch64 may have different sizes at one location");
    match first {
        Some(first) => error.related(first.span, format!("an access of {bits} bits")),
        None => error.related(global.span, format!("declared with {bits} bits")),
    }
}

fn objects(test: &Test<'_>, widths: &[u32], cells: &[u32]) -> Vec<Object> {
    let object = |(global, (&bits, &part)): (&crate::test::Global<'_>, (&u32, &u32))| {
        let zero = [Value::ZERO];
        let init = if global.init.is_empty() { &zero[..] } else { &global.init };
        let width = cell_width(bits);
        let cell = |(index, &value): (usize, &Value)| Cell {
            offset: index as u32 * bits / 8,
            width,
            init: Some(width.zero_extend(value)),
        };
        let divide = |whole: Cell| {
            let narrow = cell_width(part);
            let value = whole.init.unwrap_or_default().0;
            (0..bits / part).map(move |index| Cell {
                offset: whole.offset + index * part / 8,
                width: narrow,
                init: Some(narrow.zero_extend(Value(value >> (index * part)))),
            })
        };
        let size = bits / 8 * init.len() as u32;
        let whole = init.iter().enumerate().map(cell);
        let cells: Vec<Cell> = if part < bits { whole.flat_map(divide).collect() } else { whole.collect() };
        Object { name: global.name.to_string(), size, cells, span: global.span, constant: false }
    };
    test.globals.iter().zip(widths.iter().zip(cells)).map(object).collect()
}

/// Follows addresses through registers and memory.
struct Flow {
    /// What each location may hold.
    cells: Vec<Places>,
}

impl Flow {
    fn new(test: &Test<'_>) -> Flow {
        let mut cells = vec![0; test.globals.len().max(64)];
        for (g, global) in test.globals.iter().enumerate() {
            let declared = Places::from(global.ty.is_some_and(|ty| ty.is_pointer()));
            // A declared pointer holds addresses, whichever they are.
            cells[g.min(63)] |=
                global.init.iter().fold(declared << g.min(63), |places, &v| places | place(v));
        }
        Flow { cells }
    }

    /// Runs all threads until no location gains anything; returns their accesses.
    fn run(&mut self, threads: &[ThreadBuilder<'_>]) -> Vec<Access> {
        loop {
            let before = self.cells.clone();
            let mut accesses = Vec::new();
            for (index, thread) in threads.iter().enumerate() {
                self.run_thread(index, thread, &mut accesses);
            }
            if self.cells == before {
                return accesses;
            }
        }
    }

    fn run_thread(&mut self, index: usize, thread: &ThreadBuilder<'_>, accesses: &mut Vec<Access>) {
        let function = &thread.function;
        let mut entry = vec![0; function.regs.len()];
        for (reg, &value) in entry.iter_mut().zip(&thread.args) {
            *reg = place(value);
        }
        let mut states: Vec<Option<Vec<Places>>> = vec![None; function.body.len() + 1];
        states[0] = Some(entry);
        loop {
            let mut again = false;
            for (at, instr) in function.body.iter().enumerate() {
                let Some(mut state) = states[at].clone() else { continue };
                self.step(instr, &mut state);
                let targets = match *instr {
                    Instr::Jump(to) => [Some(to.0 as usize), None],
                    Instr::Branch { then_to, else_to, .. } => {
                        [Some(then_to.0 as usize), Some(else_to.0 as usize)]
                    }
                    Instr::Return(_) => [None, None],
                    _ => [Some(at + 1), None],
                };
                for target in targets.into_iter().flatten() {
                    again |= merge(&mut states[target], &state) && target <= at;
                }
            }
            if !again {
                break;
            }
        }
        for (at, instr) in function.body.iter().enumerate() {
            if let (Some(state), Some((addr, width))) = (&states[at], address(instr)) {
                let places = look(state, addr);
                let (double, span) = (thread.doubles.contains(&at), function.spans[at]);
                accesses.push(Access { thread: index, index: at, places, width, double, span });
            }
        }
    }

    fn step(&mut self, instr: &Instr, state: &mut [Places]) {
        match *instr {
            Instr::Assign { dst, value } => state[dst.0 as usize] = evaluate(value, state),
            Instr::Load { dst, addr, .. } => state[dst.0 as usize] = self.contents(look(state, addr)),
            Instr::Store { addr, value, .. } => self.store(look(state, addr), look(state, value)),
            Instr::StoreExclusive { status, addr, value, .. } => {
                self.store(look(state, addr), look(state, value));
                state[status.0 as usize] = 0;
            }
            Instr::Rmw { dst, addr, operand, .. } => {
                self.store(look(state, addr), look(state, operand));
                self.fetch(dst, look(state, addr), state);
            }
            Instr::CompareExchange { dst, success, addr, desired, .. } => {
                self.store(look(state, addr), look(state, desired));
                self.fetch(dst, look(state, addr), state);
                if let Some(success) = success {
                    state[success.0 as usize] = 0;
                }
            }
            _ => {}
        }
    }

    fn fetch(&self, dst: Option<Reg>, places: Places, state: &mut [Places]) {
        if let Some(dst) = dst {
            state[dst.0 as usize] = self.contents(places);
        }
    }

    fn contents(&self, places: Places) -> Places {
        (0..64).filter(|g| places >> g & 1 != 0).fold(0, |all, g| all | self.cells[g])
    }

    fn store(&mut self, places: Places, value: Places) {
        (0..64).filter(|g| places >> g & 1 != 0).for_each(|g| self.cells[g] |= value);
    }
}

fn address(instr: &Instr) -> Option<(Operand, Width)> {
    match *instr {
        Instr::Load { addr, width, .. }
        | Instr::Store { addr, width, .. }
        | Instr::StoreExclusive { addr, width, .. }
        | Instr::Rmw { addr, width, .. }
        | Instr::CompareExchange { addr, width, .. } => Some((addr, width)),
        _ => None,
    }
}

fn look(state: &[Places], operand: Operand) -> Places {
    match operand {
        Operand::Reg(reg) => state[reg.0 as usize],
        Operand::Const(value) => place(value),
    }
}

fn evaluate(value: Rvalue, state: &[Places]) -> Places {
    use BinaryOp::{Add, And, Or, Sub, Xor};
    match value {
        Rvalue::Use(a) | Rvalue::Unary(UnaryOp::ZeroExtend | UnaryOp::SignExtend, _, _, a) => look(state, a),
        Rvalue::Unary(..) => 0,
        // `xor r,r,r` makes a dependency out of an address, not another address.
        Rvalue::Binary(Xor | Sub, _, _, a, b) if a == b => 0,
        Rvalue::Binary(Add | Sub | And | Or | Xor, _, _, a, b) => look(state, a) | look(state, b),
        Rvalue::Binary(..) => 0,
        Rvalue::Select(_, a, b) => look(state, a) | look(state, b),
    }
}

fn merge(target: &mut Option<Vec<Places>>, state: &[Places]) -> bool {
    let Some(old) = target else {
        *target = Some(state.to_vec());
        return true;
    };
    let mut changed = false;
    for (old, &new) in old.iter_mut().zip(state) {
        changed |= *old | new != *old;
        *old |= new;
    }
    changed
}
