//! Accesses in parts, where a location is accessed in different sizes.
//!
//! Such a location is divided into cells of the smallest size that any access has, and a wider access becomes one access per
//! cell, the lowest first; all but the first say that they continue it ([`Role::Continues`]), so that the model knows them
//! for one. [`crate::widths`] says which accesses and which size. Only loads and stores are divided.

use fencepost_ir::{
    Ann, BinaryOp, Extend, Function, Instr, Label, Operand, Reg, Role, Rvalue, UnaryOp, Value, Width,
};

/// Whether an access can be divided.
pub(crate) fn is_divisible(instr: &Instr) -> bool {
    match instr {
        Instr::Load { ann, .. } | Instr::Store { ann, .. } => !ann.exclusive,
        _ => false,
    }
}

/// Divides the accesses that are wider than the cells they are given.
pub(crate) fn divide(function: &mut Function, cells: &[(usize, Width)]) {
    let body = std::mem::take(&mut function.body);
    let spans = std::mem::take(&mut function.spans);
    let mut starts = Vec::with_capacity(body.len() + 1);
    let mut names = Names { function, registers: Vec::new() };
    for (at, (instr, span)) in body.into_iter().zip(spans).enumerate() {
        starts.push(names.function.body.len() as u32);
        let cell = cells.iter().find(|(index, _)| *index == at).map(|(_, cell)| *cell);
        let mut parts = Vec::new();
        match (instr, cell) {
            (Instr::Load { dst, addr, width, extend, ann }, Some(cell)) if width > cell => {
                names.load((dst, width, extend), addr, cell, ann, &mut parts);
            }
            (Instr::Store { addr, value, width, ann }, Some(cell)) if width > cell => {
                names.store((value, width), addr, cell, ann, &mut parts);
            }
            (instr, _) => parts.push(instr),
        }
        for part in parts {
            names.function.push(part, span);
        }
    }
    starts.push(function.body.len() as u32);
    let moved = |label: &mut Label| label.0 = starts[label.0 as usize];
    for instr in &mut function.body {
        match instr {
            Instr::Jump(to) => moved(to),
            Instr::Branch { then_to, else_to, .. } => {
                moved(then_to);
                moved(else_to);
            }
            _ => {}
        }
    }
}

/// The registers for intermediate values of a function.
struct Names<'f> {
    function: &'f mut Function,
    registers: Vec<Reg>,
}

fn wide(op: BinaryOp, a: Operand, b: u32) -> Rvalue {
    Rvalue::Binary(op, Width::W64, Extend::Zero, a, Value(u64::from(b)).into())
}

fn part_of(ann: Ann, index: u32) -> Ann {
    if index == 0 { ann } else { Ann { role: Role::Continues, ..ann } }
}

impl Names<'_> {
    fn register(&mut self, index: usize) -> Reg {
        while self.registers.len() <= index {
            let name = format!("$part{}", self.registers.len());
            let reg = self.function.new_reg(name);
            self.registers.push(reg);
        }
        self.registers[index]
    }

    /// The address of a part; `base` holds that of the whole.
    fn address(&mut self, base: Reg, offset: u32, parts: &mut Vec<Instr>) -> Operand {
        if offset == 0 {
            return base.into();
        }
        let dst = self.register(1);
        parts.push(Instr::Assign { dst, value: wide(BinaryOp::Add, base.into(), offset) });
        dst.into()
    }

    fn load(
        &mut self,
        (dst, width, extend): (Reg, Width, Extend),
        addr: Operand,
        cell: Width,
        ann: Ann,
        parts: &mut Vec<Instr>,
    ) {
        let (base, whole, piece) = (self.register(0), self.register(2), self.register(3));
        parts.push(Instr::Assign { dst: base, value: Rvalue::Use(addr) });
        for index in 0..width.bytes() / cell.bytes() {
            let offset = index * cell.bytes();
            let addr = self.address(base, offset, parts);
            let dst = if index == 0 { whole } else { piece };
            let ann = part_of(ann, index);
            parts.push(Instr::Load { dst, addr, width: cell, extend: Extend::Zero, ann });
            if index > 0 {
                let value = wide(BinaryOp::Shl, piece.into(), 8 * offset);
                parts.push(Instr::Assign { dst: piece, value });
                let (op, extend) = (BinaryOp::Or, Extend::Zero);
                let value = Rvalue::Binary(op, Width::W64, extend, whole.into(), piece.into());
                parts.push(Instr::Assign { dst: whole, value });
            }
        }
        let op = if extend == Extend::Sign { UnaryOp::SignExtend } else { UnaryOp::ZeroExtend };
        parts.push(Instr::Assign { dst, value: Rvalue::Unary(op, width, extend, whole.into()) });
    }

    fn store(
        &mut self,
        (value, width): (Operand, Width),
        addr: Operand,
        cell: Width,
        ann: Ann,
        parts: &mut Vec<Instr>,
    ) {
        let (base, piece) = (self.register(0), self.register(3));
        parts.push(Instr::Assign { dst: base, value: Rvalue::Use(addr) });
        for index in 0..width.bytes() / cell.bytes() {
            let offset = index * cell.bytes();
            let addr = self.address(base, offset, parts);
            let ann = part_of(ann, index);
            parts.push(Instr::Assign { dst: piece, value: wide(BinaryOp::ShrU, value, 8 * offset) });
            parts.push(Instr::Store { addr, value: piece.into(), width: cell, ann });
        }
    }
}
