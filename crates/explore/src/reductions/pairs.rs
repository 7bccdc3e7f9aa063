//! Load- and store-exclusives that are one read-modify-write.
//!
//! A compiler's loop around a load- and a store-exclusive is one round and an assumption that it succeeded
//! (`docs/adr/006-mapping-llsc.md`).
//! A store-exclusive that fails then leads nowhere, so there is no choice to make: the store is there, and belongs to its load as
//! in a
//! read-modify-write by one instruction. The pattern is
//!
//! ```text
//! old = load-exclusive;  assignments, perhaps a branch that goes on or leaves;  status = store-exclusive;  assume status
//! ```
//!
//! with nothing else that jumps into it. Where the load acquires and the store releases the two differ from one instruction by
//! what
//! they order under ARMv8, and are left alone.

use fencepost_ir::{Function, Instr, Operand};
use rustc_hash::FxHashMap;

/// What an instruction is of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The load; whether the store may not come.
    Load {
        /// There is a branch in between.
        perhaps: bool,
    },
    /// The store.
    Store,
}

/// The exclusives of a function that are pairs, by their places.
pub(crate) fn paired_exclusives(function: &Function) -> FxHashMap<usize, Part> {
    let mut parts = FxHashMap::default();
    let is_load = |instr: &Instr| matches!(instr, Instr::Load { ann, .. } if ann.exclusive);
    if !function.body.iter().any(is_load) {
        return parts;
    }
    let entered = entered_by_jumps(function);
    for (load, _) in function.body.iter().enumerate().filter(|(_, instr)| is_load(instr)) {
        if let Some((store, perhaps)) = store_of(function, &entered, load) {
            parts.insert(load, Part::Load { perhaps });
            parts.insert(store, Part::Store);
        }
    }
    parts
}

/// The store-exclusive that belongs to a load-exclusive, and whether a branch stands between them.
fn store_of(function: &Function, entered: &[bool], load: usize) -> Option<(usize, bool)> {
    let Instr::Load { dst, addr, width, ann, .. } = function.body[load] else { return None };
    if addr == Operand::Reg(dst) {
        return None;
    }
    let mut perhaps = false;
    for at in load + 1..function.body.len().checked_sub(1)? {
        if entered[at] || entered[at + 1] {
            return None;
        }
        match function.body[at] {
            Instr::Assign { dst, .. } if addr != Operand::Reg(dst) => {}
            Instr::Branch { then_to, else_to, .. } if then_to.0 as usize == at + 1 && !perhaps => {
                // Back into the pair, or past its load, it must not lead.
                if (load..=at + 1).contains(&(else_to.0 as usize)) {
                    return None;
                }
                perhaps = true;
            }
            Instr::StoreExclusive { status, success: 1, addr: other, width: written, ann: store, .. } => {
                let assumed = matches!(function.body[at + 1], Instr::Assume(a) if a == Operand::Reg(status));
                let fits = other == addr && written == width;
                let alike = !(ann.order.acquires() && store.order.releases());
                return (assumed && fits && alike && addr != Operand::Reg(status)).then_some((at, perhaps));
            }
            _ => return None,
        }
    }
    None
}

/// Which instructions are targets of jumps, but for branches to the next one.
fn entered_by_jumps(function: &Function) -> Vec<bool> {
    let mut entered = vec![false; function.body.len() + 1];
    for (at, instr) in function.body.iter().enumerate() {
        match *instr {
            Instr::Jump(to) => entered[to.0 as usize] = true,
            Instr::Branch { then_to, else_to, .. } => {
                for to in [then_to, else_to] {
                    entered[to.0 as usize] |= to.0 as usize != at + 1;
                }
            }
            _ => {}
        }
    }
    entered
}
