//! Scalars that may be read before they are written.
//!
//! Registers start as zero, so a variable in a register would hide such a read. A forward analysis over the finished
//! function finds the variables that are not definitely assigned at some use; the lowering then makes objects of
//! them, and the engine sees the read of uninitialised memory if it really happens. Where a declaration is reached again,
//! or a jump into its block leaves its initialiser out, the variable has no value, whatever it had before.

use crate::ast::{FunctionDef, Local, LocalId};
use crate::lower::{Storage, forgotten};
use fencepost_ir::{Function, Instr, Reg};

/// The variables that must live in memory.
pub fn suspects(
    def: &FunctionDef,
    registers: &[Option<Reg>],
    storage: &[Storage],
    function: &Function,
) -> Vec<LocalId> {
    // Without labels nothing leads past the initialiser of a variable into its scope.
    let initialised = |local: &Local| local.initialised && !local.name.is_empty() && def.labels.is_empty();
    let candidates: Vec<(LocalId, Reg)> = (0u32..)
        .zip(&def.locals)
        .filter(|(_, local)| !initialised(local))
        .filter(|(i, _)| !def.params.contains(&LocalId(*i)) && storage[*i as usize] == Storage::Register)
        .filter_map(|(i, _)| registers[i as usize].map(|reg| (LocalId(i), reg)))
        .collect();
    let mut found = Vec::new();
    // One bit per variable: a word at a time.
    for watched in candidates.chunks(64) {
        let bad = unassigned_uses(function, watched);
        found.extend(watched.iter().enumerate().filter(|(i, _)| bad >> i & 1 != 0).map(|(_, (l, _))| *l));
    }
    found
}

/// The watched registers that some use may reach unassigned, as a bit set.
fn unassigned_uses(function: &Function, watched: &[(LocalId, Reg)]) -> u64 {
    let mut bits = vec![0u64; function.regs.len()];
    for (i, (_, reg)) in watched.iter().enumerate() {
        bits[reg.0 as usize] = 1 << i;
    }
    let bit = |reg: Reg| bits.get(reg.0 as usize).copied().unwrap_or(0);
    let count = function.body.len();
    // The bits of the registers that are assigned on every path to an instruction.
    let mut assigned = vec![u64::MAX; count + 1];
    let mut seen = vec![false; count + 1];
    let mut work = vec![(0usize, 0u64)];
    let mut bad = 0;
    while let Some((at, set)) = work.pop() {
        let meet = assigned[at] & set;
        if std::mem::replace(&mut seen[at], true) && meet == assigned[at] {
            continue;
        }
        assigned[at] = meet;
        let Some(instr) = function.body.get(at) else { continue };
        let mut after = meet;
        if let Some(reg) = forgotten(instr) {
            after &= !bit(reg);
        } else {
            instr.for_each_use(|reg| bad |= bit(reg) & !meet);
            instr.for_each_definition(|reg| after |= bit(reg));
        }
        match instr {
            Instr::Jump(label) => work.push((label.0 as usize, after)),
            Instr::Branch { then_to, else_to, .. } => {
                work.push((then_to.0 as usize, after));
                work.push((else_to.0 as usize, after));
            }
            Instr::Return(_) | Instr::Exit(_) | Instr::Halt | Instr::Fail { .. } => {}
            _ => work.push((at + 1, after)),
        }
    }
    bad
}
